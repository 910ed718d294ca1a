//! Appends records, one session at a time and sessions side by side.

use std::sync::{Arc, Mutex};

use tokio::sync::OwnedMutexGuard;

use super::crowd::{Crowd, NewLine};
use super::error::JournalError;
use super::files::Files;
use super::slot::Slot;
use super::storage::{Storage, is_draft};
use super::together::Together;
use crate::domain::ids::SessionId;
use crate::server::lock::lock;
use crate::wire::journal::{Malformed, Record};

/// All journals of one data directory; clones share their files and locks.
#[derive(Clone)]
pub struct Journal {
    pub(super) files: Files,
    pub(super) together: Arc<Mutex<Together>>,
    crowd: Crowd,
    alone: Arc<tokio::sync::Mutex<()>>,
}

/// Says that one waits for the disk alone, if one does, for as long as it is kept.
#[derive(Default)]
pub struct Place(Option<OwnedMutexGuard<()>>);

impl Journal {
    /// Opens the journals, clears away what an interrupted pruning left, and brings home what was
    /// synced for many at once.
    pub fn open(storage: Arc<dyn Storage>) -> Result<Self, JournalError> {
        let mut drafts = storage.list()?;
        drafts.retain(|name| is_draft(name));
        for draft in &drafts {
            storage.remove(draft)?;
        }
        if !drafts.is_empty() {
            storage.sync_folder()?;
        }
        let files = Files::new(storage);
        let together = Arc::new(Mutex::new(Together::open(&files)?));
        let crowd = Crowd::open(files.clone(), together.clone())?;
        Ok(Self { files, together, crowd, alone: Arc::default() })
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
        self.write(session, record, |slot| {
            meanwhile();
            slot.sync()
        })
    }

    /// Appends a record without waiting for the disk: if a power loss takes it, recovery only
    /// starts from an earlier step of a turn whose words are safe.
    pub fn append(&self, session: &SessionId, record: &Record) -> Result<(), JournalError> {
        self.write(session, record, |slot| {
            slot.accept();
            Ok(())
        })
    }

    fn write(
        &self,
        session: &SessionId,
        record: &Record,
        take: impl FnOnce(&mut Slot) -> Result<(), JournalError>,
    ) -> Result<(), JournalError> {
        let line = line_for(session, record)?;
        let slot = self.files.for_writing(session);
        let mut slot = lock(&slot);
        slot.write(self.files.storage(), session, line.as_bytes())?;
        take(&mut slot)
    }

    /// Lets one wait for the disk alone, by [`Self::append_synced_while`]; whoever comes meanwhile
    /// waits with others, by [`Self::join`].
    pub fn take_place(&self) -> Place {
        Place(self.alone.clone().try_lock_owned().ok())
    }

    /// Leaves a record to the thread that appends for all who wait at this moment.
    pub fn join(&self, line: NewLine) {
        self.crowd.join(line);
    }

    /// Puts what many shared where it belongs, so that nothing has to be mended at the next start.
    pub fn settle(&self) -> Result<(), JournalError> {
        lock(&self.together).settle(&self.files)
    }

    /// Appends lines that are all on the disk when their senders are told, with one sync.
    pub fn append_together(&self, lines: Vec<NewLine>) {
        super::crowd::append(&self.files, &self.together, lines);
    }
}

impl Place {
    pub fn is_alone(&self) -> bool {
        self.0.is_some()
    }
}

pub(super) fn line_for(session: &SessionId, record: &Record) -> Result<String, JournalError> {
    if let Some(named) = record.session_id.as_ref().filter(|named| *named != session) {
        return Err(Malformed::OtherSession(named.clone()).into());
    }
    Ok(record.to_line()?)
}
