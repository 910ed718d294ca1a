//! What happened to sessions, numbered and kept for a while, for readers that come back.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::broadcast;

use crate::domain::ids::SessionId;
use crate::domain::session::Session;
use crate::server::lock::lock;

/// How many happenings are kept, and how many a reader may be behind.
const KEPT: usize = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    Created,
    Changed,
    /// A turn came to its end, good or bad.
    Completed,
    Forked,
    /// The row goes on where its parent was compressed.
    Compressed,
    Removed,
}

impl Happened {
    /// Gives the name it has for other programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Completed => "completed",
            Self::Forked => "forked",
            Self::Compressed => "compressed",
            Self::Removed => "removed",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub number: u64,
    pub happened: Happened,
    pub session_id: SessionId,
    /// The row as it was then; none when nobody was there to read it.
    pub row: Option<Arc<Session>>,
}

/// What a reader gets: what it missed, if that is still known, then everything that follows.
pub struct Reading {
    pub latest: u64,
    pub missed: Option<Vec<Entry>>,
    pub following: broadcast::Receiver<Entry>,
}

#[derive(Debug, Default)]
struct Kept {
    latest: u64,
    entries: VecDeque<Entry>,
}

#[derive(Debug, Clone)]
pub struct Chronicle {
    kept: Arc<Mutex<Kept>>,
    following: broadcast::Sender<Entry>,
}

impl Default for Chronicle {
    fn default() -> Self {
        Self { kept: Arc::default(), following: broadcast::Sender::new(KEPT) }
    }
}

impl Chronicle {
    pub fn is_read(&self) -> bool {
        self.following.receiver_count() > 0
    }

    /// Numbers a happening, keeps it and tells every reader, in one step.
    pub fn record(&self, happened: Happened, session_id: &SessionId, row: Option<Arc<Session>>) {
        let mut kept = self.kept();
        kept.latest += 1;
        let entry = Entry { number: kept.latest, happened, session_id: session_id.clone(), row };
        if kept.entries.len() == KEPT {
            kept.entries.pop_front();
        }
        // What is kept is read anew when it is told: by then the row has changed.
        kept.entries.push_back(Entry { row: None, ..entry.clone() });
        // An error means that nobody reads.
        let _ = self.following.send(entry);
    }

    /// Begins to read, after a number where one is given; `missed` is none when what followed it
    /// is no longer known, or never was.
    pub fn read(&self, after: Option<u64>) -> Reading {
        let kept = self.kept();
        let oldest = kept.entries.front().map_or(kept.latest, |entry| entry.number - 1);
        let missed = match after {
            None => Some(Vec::new()),
            Some(after) if (oldest..=kept.latest).contains(&after) => {
                let missed = kept.entries.iter().filter(|entry| entry.number > after);
                Some(missed.cloned().collect())
            }
            Some(_) => None,
        };
        Reading { latest: kept.latest, missed, following: self.following.subscribe() }
    }

    /// A panic elsewhere must not silence every reader.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        lock(&self.kept)
    }
}
