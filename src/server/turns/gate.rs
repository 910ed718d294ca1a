//! Lets one request at a time through for each turn, so that a press of Send that arrives by two
//! ways at once is written down once.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};

use crate::domain::ids::{MessageId, TurnId};
use crate::wire::rest::StartTurn;

/// How many turns can enter side by side.
const LANES: usize = 64;

/// A turn that failed between its two places; sent again, it begins where it stopped.
#[derive(Debug, Clone, PartialEq)]
pub enum Half {
    /// It is in the journal and could not be stored yet.
    Unstored(StartTurn),
    /// The journal refused it, and its message must leave the store again.
    Refused(MessageId),
}

pub type Halves = HashMap<TurnId, Half>;

#[derive(Clone)]
pub struct Gate {
    lanes: Arc<[Mutex<Halves>]>,
    hasher: RandomState,
}

impl Default for Gate {
    fn default() -> Self {
        Self { lanes: (0..LANES).map(|_| Mutex::default()).collect(), hasher: RandomState::new() }
    }
}

impl Gate {
    /// Waits until no other request is about the same turn.
    pub async fn enter(&self, turn_id: &TurnId) -> MutexGuard<'_, Halves> {
        let lane = self.hasher.hash_one(turn_id) as usize % self.lanes.len();
        self.lanes[lane].lock().await
    }
}
