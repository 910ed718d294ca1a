//! The last messages to and from an agent, word for word, for whoever has to find out what it did.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::server::lock::lock;
use crate::server::mint;
use crate::wire::rest::{Speaker, TraceLine};

/// How many bytes of one message are kept.
const LONGEST_LINE: usize = 8 << 10;

/// How many bytes are kept in all; past it the oldest messages go.
const KEPT: usize = 256 << 10;

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<TraceLine>,
    bytes: usize,
}

/// A bounded record of messages; a clone is another view of the same record.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    kept: Arc<Mutex<Kept>>,
}

impl Trace {
    /// Keeps one message, the first part of it where it is long.
    pub fn keep(&self, from: Speaker, message: &str) {
        let text = head(message, LONGEST_LINE).to_owned();
        self.push(TraceLine { at: mint::now(), from, size: message.len(), text });
    }

    /// Keeps what another record holds.
    pub fn copy_from(&self, other: &Self) {
        for line in other.lines() {
            self.push(line);
        }
    }

    pub fn lines(&self) -> Vec<TraceLine> {
        self.kept().lines.iter().cloned().collect()
    }

    fn push(&self, line: TraceLine) {
        let mut kept = self.kept();
        kept.bytes += line.text.len();
        kept.lines.push_back(line);
        while kept.bytes > KEPT {
            let Some(oldest) = kept.lines.pop_front() else { break };
            kept.bytes -= oldest.text.len();
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        lock(&self.kept)
    }
}

/// Cuts a text to at most so many bytes, between two characters.
pub fn head(text: &str, bytes: usize) -> &str {
    let mut end = text.len().min(bytes);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}
