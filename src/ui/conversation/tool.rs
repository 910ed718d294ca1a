//! What an agent did with a tool.

use leptos::prelude::*;

use super::entry::Entry;
use super::markdown::code_lines;
use super::state::Conversation;
use crate::domain::highlight::highlight;
use crate::domain::message::{Part, ToolCall, ToolOutput, ToolState};
use crate::ui::components::element::{element, text_element};

#[component]
pub fn ToolCard(
    conversation: Conversation,
    entry: Entry,
    place: usize,
    tool: ToolCall,
) -> impl IntoView {
    let current = Memo::new(move |_| {
        let now = conversation.with_part(&entry, place, |part| match part {
            Part::Tool(tool) => Some(tool.clone()),
            _ => None,
        });
        now.flatten().unwrap_or_else(|| tool.clone())
    });
    let name = move || current.with(|tool| tool.name.clone());
    let target = move || current.with(|tool| tool.target.clone());
    let class = move || current.with(|tool| state_class(tool.state));
    let words = move || current.with(state_words);
    let outputs =
        move || current.with(|tool| tool.output.iter().map(output_view).collect::<Vec<_>>());
    view! {
        <details class=class>
            <summary>
                <span class="tool-name">{name}</span>
                <code class="tool-target">{target}</code>
                <span class="tool-state">{words}</span>
            </summary>
            {outputs}
        </details>
    }
}

fn state_class(state: ToolState) -> &'static str {
    match state {
        ToolState::Running => "tool running",
        ToolState::Done => "tool",
        ToolState::Failed => "tool failed",
        ToolState::Skipped => "tool skipped",
    }
}

fn state_words(tool: &ToolCall) -> String {
    let words = match tool.state {
        ToolState::Running => return "running".to_owned(),
        ToolState::Done => "done",
        ToolState::Failed => "failed",
        ToolState::Skipped => "not done",
    };
    let Some(ended_at) = tool.ended_at else {
        return words.to_owned();
    };
    let millis = ended_at.millis().saturating_sub(tool.started_at.millis()).max(0);
    if millis < 1000 {
        return words.to_owned();
    }
    [words, " · ", &(millis / 1000).to_string(), " s"].concat()
}

fn output_view(output: &ToolOutput) -> AnyView {
    match output {
        ToolOutput::Text { text } => {
            view! { <pre class="output" tabindex="0">{text.clone()}</pre> }.into_any()
        }
        ToolOutput::Diff { path, old, new } => {
            let caption = text_element("figcaption", "", path.clone());
            let lines = element("code", "", code_lines(highlight("diff", &as_diff(old, new))));
            let code = view! { <pre tabindex="0">{lines}</pre> }.into_any();
            element("figure", "code", vec![caption, code])
        }
    }
}

/// Writes the change as lines taken away and lines put in, with what both share at the rims left
/// as it is.
fn as_diff(old: &str, new: &str) -> String {
    let (old, new): (Vec<_>, Vec<_>) = (old.lines().collect(), new.lines().collect());
    let head = old.iter().zip(&new).take_while(|(left, right)| left == right).count();
    let tail = old.iter().skip(head).rev().zip(new.iter().skip(head).rev());
    let tail = tail.take_while(|(left, right)| left == right).count();
    let mut diff = String::new();
    let mut write = |sign: &str, lines: &[&str]| {
        for line in lines {
            diff.push_str(sign);
            diff.push_str(line);
            diff.push('\n');
        }
    };
    write(" ", old.get(..head).unwrap_or_default());
    write("-", old.get(head..old.len() - tail).unwrap_or_default());
    write("+", new.get(head..new.len() - tail).unwrap_or_default());
    write(" ", old.get(old.len() - tail..).unwrap_or_default());
    diff
}
