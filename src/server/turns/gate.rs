//! Lets one request at a time through for each turn, so that a press of Send that arrives by two
//! ways at once is written down once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::{Mutex as Turnstile, OwnedMutexGuard};

use crate::domain::ids::{MessageId, TurnId};
use crate::server::lock::lock;
use crate::wire::rest::StartTurn;

/// A turn that failed between its two places; sent again, it begins where it stopped.
#[derive(Debug, Clone, PartialEq)]
pub enum Half {
    /// It is in the journal and could not be stored yet.
    Unstored(StartTurn),
    /// The journal refused it, and its message must leave the store again.
    Refused(MessageId),
}

type Turns = Mutex<HashMap<TurnId, Arc<Turnstile<Option<Half>>>>>;

/// Remembers the turns that somebody is about, and those that stopped half-way.
#[derive(Clone, Default)]
pub struct Gate(Arc<Turns>);

/// Says that one is about a turn; the next may be when this is dropped.
pub struct Passage {
    turns: Arc<Turns>,
    turn_id: TurnId,
    /// Empty as long as one waits.
    half: Option<OwnedMutexGuard<Option<Half>>>,
}

impl Gate {
    /// Waits until no other request is about the same turn.
    pub async fn enter(&self, turn_id: &TurnId) -> Passage {
        let turn = lock(&self.0).entry(turn_id.clone()).or_default().clone();
        // Made before the wait, so that one who gives up leaves nothing behind either.
        let mut passage = Passage { turns: self.0.clone(), turn_id: turn_id.clone(), half: None };
        passage.half = Some(turn.lock_owned().await);
        passage
    }

    /// Counts the turns that are remembered.
    pub fn remembered(&self) -> usize {
        lock(&self.0).len()
    }
}

impl Passage {
    /// Gives the place at which an earlier try stopped.
    pub fn half(&self) -> Option<&Half> {
        self.half.as_deref()?.as_ref()
    }

    pub fn remember(&mut self, stopped: Half) {
        if let Some(half) = &mut self.half {
            **half = Some(stopped);
        }
    }

    pub fn forget(&mut self) {
        if let Some(half) = &mut self.half {
            **half = None;
        }
    }
}

impl Drop for Passage {
    fn drop(&mut self) {
        let mut turns = lock(&self.turns);
        self.half = None;
        // Nobody else can get hold of a turn now, so one that is not shared stays so.
        let turn = turns.get_mut(&self.turn_id).and_then(Arc::get_mut);
        if turn.is_some_and(|turn| turn.get_mut().is_none()) {
            turns.remove(&self.turn_id);
        }
    }
}
