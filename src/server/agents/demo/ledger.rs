//! What was asked and how many words went to and fro: the agent's make-believe context.

use crate::domain::message::Usage;
use crate::server::agents::words::{counted, one_line};

const CONTEXT_LIMIT: u64 = 8000;

/// How many prompts a summary names; older ones are only counted.
const REMEMBERED: usize = 50;

/// The prompts and words of one handle; a word counts as a token.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    asked: Vec<String>,
    forgotten: usize,
    input: u64,
    output: u64,
    context: u64,
    pretended: Option<Usage>,
    open: bool,
}

impl Ledger {
    /// Begins a turn.
    pub(super) fn begin(&mut self, prompt: &str) {
        if self.asked.len() >= REMEMBERED {
            self.asked.remove(0);
            self.forgotten += 1;
        }
        self.asked.push(defuse(prompt));
        self.input = count_words(prompt);
        self.output = 0;
        self.context += self.input;
        self.pretended = None;
        self.open = true;
    }

    pub(super) fn count_said(&mut self) {
        self.output += 1;
        self.context += 1;
    }

    /// Lets the turn end with these numbers instead of the counted ones.
    pub(super) fn pretend(&mut self, usage: Usage) {
        self.pretended = Some(usage);
    }

    /// Ends a turn with its numbers, if one was begun.
    pub(super) fn close(&mut self) -> Option<Usage> {
        let counted = Usage {
            input_tokens: self.input,
            output_tokens: self.output,
            context_tokens: Some(self.context),
            context_limit: Some(CONTEXT_LIMIT),
            cost_usd: None,
        };
        std::mem::take(&mut self.open).then(|| self.pretended.take().unwrap_or(counted))
    }

    /// Summarises the prompts so far; the summary is all that the context then holds.
    pub(super) fn compact(&mut self) -> String {
        let summary = self.summary();
        self.context = count_words(&summary);
        summary
    }

    fn summary(&self) -> String {
        if self.asked.is_empty() {
            return "Nothing was asked so far.".to_owned();
        }
        let total = self.forgotten + self.asked.len();
        let mut summary = format!("So far {} asked:\n", counted(total, "thing was", "things were"));
        if self.forgotten > 0 {
            summary.push_str(&format!("\n(the first {} are left out)\n", self.forgotten));
        }
        for (place, prompt) in self.asked.iter().enumerate() {
            summary.push_str(&format!("\n{}. {prompt}", self.forgotten + place + 1));
        }
        summary
    }
}

/// Shortens a prompt to one line whose directives are no longer directives, for a summary may come
/// back as a prompt and must not crash or ask a second time.
fn defuse(prompt: &str) -> String {
    let mut line = one_line(prompt);
    while line.contains("[[") || line.contains("]]") {
        line = line.replace("[[", "[").replace("]]", "]");
    }
    if line.is_empty() { "(no words)".to_owned() } else { line }
}

fn count_words(text: &str) -> u64 {
    text.split_whitespace().count() as u64
}
