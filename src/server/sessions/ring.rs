//! The last events of a session, kept so that a reader that was away misses nothing.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::domain::event::Event;
use crate::domain::ids::Seq;

/// How many events a session keeps for readers that come back.
const KEPT: usize = 4096;

/// An event with the number it got, once, before anyone saw it.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbered {
    pub seq: Seq,
    pub event: Event,
}

/// What a returning reader is given.
#[derive(Debug, Clone, PartialEq)]
pub enum Replay {
    /// Exactly the events it missed.
    Missed(Vec<Arc<Numbered>>),
    /// Some of them are gone: it must fetch the session anew.
    Gap { oldest: Seq, latest: Seq },
}

#[derive(Debug)]
pub struct Ring {
    events: VecDeque<Arc<Numbered>>,
    latest: Seq,
}

impl Ring {
    /// Starts an empty ring after the last number given out.
    pub fn new(latest: Seq) -> Self {
        Self { events: VecDeque::new(), latest }
    }

    pub fn latest(&self) -> Seq {
        self.latest
    }

    /// Numbers an event and keeps it.
    pub fn push(&mut self, event: Event) -> Arc<Numbered> {
        self.latest = self.latest.next();
        let numbered = Arc::new(Numbered { seq: self.latest, event });
        if self.events.len() == KEPT {
            self.events.pop_front();
        }
        self.events.push_back(Arc::clone(&numbered));
        numbered
    }

    /// Answers a reader that has applied everything up to `seq`.
    pub fn since(&self, seq: Seq) -> Replay {
        let oldest = self.events.front().map_or(self.latest.next(), |numbered| numbered.seq);
        if seq > self.latest || seq.next() < oldest {
            return Replay::Gap { oldest, latest: self.latest };
        }
        let missed = self.events.iter().skip_while(|numbered| numbered.seq <= seq);
        Replay::Missed(missed.cloned().collect())
    }
}
