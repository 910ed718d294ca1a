//! Decides what to do with a numbered event: the browser's half of exact replay.

use serde::{Deserialize, Serialize};

use super::ids::{Epoch, Seq};

/// The last event that a reader has applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    pub epoch: Epoch,
    pub seq: Seq,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is the next one.
    Apply,
    /// It was applied before.
    Ignore,
    /// Something is missing in between, or the numbering started over.
    Refetch,
}

/// Compares an event's number with what the reader has.
pub fn judge(cursor: &Cursor, epoch: &Epoch, seq: Seq) -> Verdict {
    if cursor.epoch != *epoch {
        Verdict::Refetch
    } else if seq <= cursor.seq {
        Verdict::Ignore
    } else if seq == cursor.seq.next() {
        Verdict::Apply
    } else {
        Verdict::Refetch
    }
}
