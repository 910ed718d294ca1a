//! The files of one data directory, each with a lock of its own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::error::JournalError;
use super::slot::Slot;
use super::storage::Storage;
use crate::domain::ids::SessionId;
use crate::server::lock::lock;

/// How many files are kept open.
pub const MOST_OPEN: usize = 256;

/// Clones share their files and locks.
#[derive(Clone)]
pub(super) struct Files {
    storage: Arc<dyn Storage>,
    slots: Arc<Mutex<Slots>>,
}

#[derive(Default)]
struct Slots {
    by_session: HashMap<SessionId, Shelved>,
    uses: u64,
}

struct Shelved {
    slot: Arc<Mutex<Slot>>,
    /// Counts up with every append; a slot that was only read goes first.
    last_use: u64,
}

impl Files {
    pub fn new(storage: Arc<dyn Storage>) -> Self {
        Self { storage, slots: Arc::default() }
    }

    pub fn storage(&self) -> &dyn Storage {
        &*self.storage
    }

    /// Hands out the place of a session's file, to be locked and written to.
    pub fn for_writing(&self, session: &SessionId) -> Arc<Mutex<Slot>> {
        lock(&self.slots).for_writing(session)
    }

    /// Does something with one session's file that no append may come between.
    pub fn alone_with<T>(
        &self,
        session: &SessionId,
        work: impl FnOnce(&mut Slot, &dyn Storage) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let slot = lock(&self.slots).for_reading(session);
        work(&mut lock(&slot), &*self.storage)
    }
}

impl Slots {
    fn for_writing(&mut self, session: &SessionId) -> Arc<Mutex<Slot>> {
        self.uses += 1;
        match self.by_session.get_mut(session) {
            Some(shelved) => {
                shelved.last_use = self.uses;
                shelved.slot.clone()
            }
            None => self.shelve(session, self.uses),
        }
    }

    fn for_reading(&mut self, session: &SessionId) -> Arc<Mutex<Slot>> {
        match self.by_session.get(session) {
            Some(shelved) => shelved.slot.clone(),
            None => self.shelve(session, 0),
        }
    }

    fn shelve(&mut self, session: &SessionId, last_use: u64) -> Arc<Mutex<Slot>> {
        while self.by_session.len() >= MOST_OPEN && self.make_room() {}
        let slot = Arc::<Mutex<Slot>>::default();
        self.by_session.insert(session.clone(), Shelved { slot: slot.clone(), last_use });
        slot
    }

    /// Forgets the slot that rested longest, unless all are at work or waiting to be mended.
    fn make_room(&mut self) -> bool {
        let resting = |shelved: &mut Shelved| {
            // Nobody else can get hold of a slot now, so one that is not shared stays so.
            let slot = Arc::get_mut(&mut shelved.slot)?;
            let slot = slot.get_mut().unwrap_or_else(PoisonError::into_inner);
            (!slot.is_poisoned()).then_some(shelved.last_use)
        };
        let longest = self
            .by_session
            .iter_mut()
            .filter_map(|(session, shelved)| Some((resting(shelved)?, session)))
            .min_by_key(|(last_use, _)| *last_use)
            .map(|(_, session)| session.clone());
        longest.is_some_and(|session| self.by_session.remove(&session).is_some())
    }
}
