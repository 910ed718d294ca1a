//! Appends records, one session at a time and sessions side by side.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::error::JournalError;
use super::slot::Slot;
use super::storage::{Storage, is_draft};
use crate::domain::ids::SessionId;
use crate::server::lock::lock;
use crate::wire::journal::{Malformed, Record};

/// How many files are kept open.
pub const MOST_OPEN: usize = 256;

/// All journals of one data directory; clones share their files and locks.
#[derive(Clone)]
pub struct Journal {
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

impl Journal {
    /// Opens the journals and clears away what an interrupted pruning left.
    pub fn open(storage: Arc<dyn Storage>) -> Result<Self, JournalError> {
        let mut drafts = storage.list()?;
        drafts.retain(|name| is_draft(name));
        for draft in &drafts {
            storage.remove(draft)?;
        }
        if !drafts.is_empty() {
            storage.sync_folder()?;
        }
        Ok(Self { storage, slots: Arc::default() })
    }

    /// Appends a record that is on the disk, power loss or not, when this returns.
    pub fn append_synced(&self, session: &SessionId, record: &Record) -> Result<(), JournalError> {
        self.append_synced_while(session, record, || ())
    }

    /// Does the same, and something else while the disk is waited for. It is done only once the
    /// record is written, so that a process that is killed never leaves it alone.
    pub fn append_synced_while(
        &self,
        session: &SessionId,
        record: &Record,
        meanwhile: impl FnOnce(),
    ) -> Result<(), JournalError> {
        self.write(session, record, Some(meanwhile))
    }

    /// Appends a record without waiting for the disk: if a power loss takes it, recovery only
    /// starts from an earlier step of a turn whose words are safe.
    pub fn append(&self, session: &SessionId, record: &Record) -> Result<(), JournalError> {
        self.write(session, record, None::<fn()>)
    }

    fn write(
        &self,
        session: &SessionId,
        record: &Record,
        meanwhile: Option<impl FnOnce()>,
    ) -> Result<(), JournalError> {
        if let Some(named) = record.session_id.as_ref().filter(|named| *named != session) {
            return Err(Malformed::OtherSession(named.clone()).into());
        }
        let line = record.to_line()?;
        let slot = lock(&self.slots).for_writing(session);
        lock(&slot).append(&*self.storage, session, line.as_bytes(), meanwhile)
    }

    /// Does something with one session's file that no append may come between.
    pub(super) fn alone_with<T>(
        &self,
        session: &SessionId,
        work: impl FnOnce(&mut Slot, &dyn Storage) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let slot = lock(&self.slots).for_reading(session);
        work(&mut lock(&slot), &*self.storage)
    }

    pub(super) fn storage(&self) -> &dyn Storage {
        &*self.storage
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
