//! What a tool gave, told anew as a whole by an agent; here it becomes what changed.

use super::agent::Happening;
use super::trace::head;
use crate::domain::list::shorten;
use crate::domain::message::ToolOutput;

/// How much text of one tool's output is shown.
pub const LONGEST_OUTPUT: usize = 128 << 10;

pub const CUT: &str = "\n… the rest is left out";

/// The outputs of one tool that are shown so far.
#[derive(Debug, Default)]
pub struct Outputs {
    shown: Vec<ToolOutput>,
}

impl Outputs {
    pub fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// Shows these outputs: as more of what is there where they go on from it. `beside` says that
    /// the tool shows something else as well.
    pub fn replace(
        &mut self,
        tool_id: &str,
        next: Vec<ToolOutput>,
        beside: bool,
    ) -> Vec<Happening> {
        if next.is_empty() || next == self.shown {
            return Vec::new();
        }
        let before = std::mem::replace(&mut self.shown, next);
        let tool_id = tool_id.to_owned();
        if let Some(text) = continuation(&before, &self.shown) {
            return vec![Happening::ToolOutput { tool_id, output: ToolOutput::Text { text } }];
        }
        if before.is_empty() && !beside {
            let outputs = self.shown.iter().cloned();
            return outputs
                .map(|output| Happening::ToolOutput { tool_id: tool_id.clone(), output })
                .collect();
        }
        vec![Happening::ToolOutputs { tool_id, outputs: self.shown.clone() }]
    }
}

/// Gives what a text goes on with, where nothing else changed.
fn continuation(shown: &[ToolOutput], next: &[ToolOutput]) -> Option<String> {
    let (last, before) = shown.split_last()?;
    let (next_last, next_before) = next.split_last()?;
    match (last, next_last) {
        (ToolOutput::Text { text }, ToolOutput::Text { text: longer }) if before == next_before => {
            longer.strip_prefix(text.as_str()).map(str::to_owned)
        }
        _ => None,
    }
}

/// Puts texts that follow each other into one, as they are shown.
pub fn add_text(outputs: &mut Vec<ToolOutput>, words: &str) {
    if words.is_empty() {
        return;
    }
    match outputs.last_mut() {
        Some(ToolOutput::Text { text }) => *text = cut(&format!("{text}\n{words}")),
        _ => outputs.push(ToolOutput::Text { text: cut(words) }),
    }
}

/// Cuts a text to what is shown of one output.
pub fn cut(text: &str) -> String {
    match head(text, LONGEST_OUTPUT) {
        whole if whole.len() == text.len() => whole.to_owned(),
        part => format!("{part}{CUT}"),
    }
}

/// Words what a tool works on as one line.
pub fn one_line(title: &str) -> String {
    shorten(&title.split_whitespace().collect::<Vec<_>>().join(" "), 200)
}

/// Shows a path without the folder that the conversation works in.
pub fn shorten_path(folder: &str, path: &str) -> String {
    let inside = path.strip_prefix(folder).and_then(|rest| rest.strip_prefix('/'));
    inside.unwrap_or(path).to_owned()
}
