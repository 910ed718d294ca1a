//! What was said in a conversation, for an agent that joins it or has forgotten it.

use std::collections::VecDeque;

use crate::domain::message::{Message, Role};
use crate::server::agents::trace::head;

/// How much is told in all, and of one message.
const KEPT: usize = 24 << 10;
const LONGEST: usize = 4 << 10;

/// How an agent came to know a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// It is new to it.
    New,
    /// It remembers it.
    Kept,
    /// It has forgotten it, and began anew.
    Lost,
}

/// What a person is told when an agent has forgotten a conversation.
pub const FORGOTTEN: &str =
    "The agent no longer remembered this conversation; it is told what was said so far.";

/// The newest of what was said, within bounds.
#[derive(Debug, Default)]
pub struct Recollection {
    lines: VecDeque<String>,
    bytes: usize,
}

impl Recollection {
    pub fn new(messages: &[Message]) -> Self {
        let mut recollection = Self::default();
        for message in messages {
            recollection.add(message.role, &message.text());
        }
        recollection
    }

    pub fn add(&mut self, role: Role, words: &str) {
        let words = words.trim();
        if words.is_empty() {
            return;
        }
        let who = match role {
            Role::User => "Person",
            Role::Assistant => "You",
            Role::System => "Summary of what came before",
        };
        let line = format!("{who}: {}", head(words, LONGEST));
        self.bytes += line.len();
        self.lines.push_back(line);
        while self.bytes > KEPT {
            let Some(oldest) = self.lines.pop_front() else { break };
            self.bytes -= oldest.len();
        }
    }

    /// Words it as the beginning of a prompt, where there is anything to tell.
    pub fn primer(&self) -> Option<String> {
        if self.lines.is_empty() {
            return None;
        }
        let said = self.lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n\n");
        Some(format!(
            "This conversation began before you joined it. What was said so far:\n\n{said}\n\n\
             Now go on with the message that follows."
        ))
    }
}
