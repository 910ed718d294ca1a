//! Goes on with a prompt that a restart cut short at a question.
//!
//! The same prompt gives the same happenings, so it is enough to know how many tools and questions
//! are behind: everything up to there is passed over, and the next one takes the answer.

use super::directive::{Directive, Tool};
use crate::domain::message::{Attachment, Message, Part, Question};
use crate::server::agents::agent::{AgentCommand, Resumption};

/// The option by which a person lets a tool go on; no other question offers it.
pub(super) const ALLOW_ONCE: &str = "allow_once";

/// Writes the prompt that goes on from an answer.
pub(super) fn command(resumption: &Resumption) -> AgentCommand {
    let Resumption { option, prompt, asked, .. } = resumption;
    let passed = passed(asked);
    let text = format!("[[answered {passed} {option}]]{}", prompt.text());
    AgentCommand::Prompt { text, attachments: attachments(prompt) }
}

/// Counts the tools and questions that are done with. Each answer ends with one that is not: a tool
/// that was not let go on begins anew in the next answer, and a plain question does not.
fn passed(asked: &[Message]) -> usize {
    let last = asked.len().saturating_sub(1);
    let done = asked.iter().enumerate().map(|(place, answer)| {
        let begun = answer.parts.iter().filter(|part| is_step(part)).count();
        let again = place == last || asks_permission(answer);
        begun - usize::from(again && begun > 0)
    });
    done.sum()
}

fn is_step(part: &Part) -> bool {
    match part {
        Part::Tool(_) => true,
        Part::Question(question) => !is_permission(question),
        _ => false,
    }
}

fn asks_permission(answer: &Message) -> bool {
    let mut parts = answer.parts.iter().rev();
    let last = parts.find_map(|part| match part {
        Part::Question(question) => Some(question),
        _ => None,
    });
    last.is_some_and(is_permission)
}

fn is_permission(question: &Question) -> bool {
    question.options.iter().any(|choice| choice.option == ALLOW_ONCE)
}

fn attachments(prompt: &Message) -> Vec<Attachment> {
    let parts = prompt.parts.iter();
    parts
        .filter_map(|part| match part {
            Part::Attachment(attachment) => Some(attachment.clone()),
            _ => None,
        })
        .collect()
}

/// What a resumed prompt has behind it, and the answer that waits for the next question.
#[derive(Debug, Default)]
pub(super) struct Recall {
    passed: u32,
    option: Option<String>,
}

impl Recall {
    pub(super) fn new(passed: u32, option: String) -> Self {
        Self { passed, option: Some(option) }
    }

    /// Tells whether a directive was followed before the restart.
    pub(super) fn passes(&mut self, directive: &Directive) -> bool {
        if self.option.is_none() {
            return false;
        }
        if !matches!(directive, Directive::Tool(_) | Directive::Ask { .. }) {
            return true;
        }
        let passes = self.passed > 0;
        self.passed = self.passed.saturating_sub(1);
        // A tool that asks nobody cannot be what waited.
        passes
            || matches!(directive, Directive::Tool(Tool::List(_) | Tool::Read(_) | Tool::Search(_)))
    }

    /// Gives the answer that a person has given already.
    pub(super) fn take(&mut self) -> Option<String> {
        self.option.take()
    }
}
