//! Lets one request at a time through for each turn, so that a press of Send that arrives by two
//! ways at once is written down once.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};

use crate::domain::ids::TurnId;
use crate::wire::rest::StartTurn;

/// How many turns can enter side by side.
const LANES: usize = 64;

/// Turns that are in the journal and could not be stored yet; sent again, they are not written
/// down again.
pub type Unstored = HashMap<TurnId, StartTurn>;

#[derive(Clone)]
pub struct Gate {
    lanes: Arc<[Mutex<Unstored>]>,
    hasher: RandomState,
}

impl Default for Gate {
    fn default() -> Self {
        Self { lanes: (0..LANES).map(|_| Mutex::default()).collect(), hasher: RandomState::new() }
    }
}

impl Gate {
    /// Waits until no other request is about the same turn.
    pub async fn enter(&self, turn_id: &TurnId) -> MutexGuard<'_, Unstored> {
        let lane = self.hasher.hash_one(turn_id) as usize % self.lanes.len();
        self.lanes[lane].lock().await
    }
}
