//! Appends records, one session at a time and sessions side by side.

use std::sync::Arc;

use tokio::sync::OwnedMutexGuard;

use super::error::JournalError;
use super::open_files::OpenFiles;
use super::session_file::SessionFile;
use super::shared_log::restore_shared_log;
use super::storage::{Storage, is_temp};
use crate::domain::ids::SessionId;
use crate::wire::journal::{Malformed, Record};

/// All journals of one data directory; clones share their files and locks.
#[derive(Clone)]
pub struct Journal {
    pub(super) files: OpenFiles,
}

/// A line that is on the disk and not accepted yet. Its file stays locked meanwhile, so that it is
/// the last line of the file and can be cut off again.
#[must_use = "a pending line must be accepted or cut off"]
pub struct PendingLine(OwnedMutexGuard<SessionFile>);

impl Journal {
    /// Opens the journals, removes what an interrupted pruning left, and restores the lines of the
    /// log that an earlier version shared between sessions.
    pub fn open(storage: Arc<dyn Storage>) -> Result<Self, JournalError> {
        let mut temps = storage.list()?;
        temps.retain(|name| is_temp(name));
        for temp in &temps {
            storage.remove(temp)?;
        }
        if !temps.is_empty() {
            storage.sync_folder()?;
        }
        let journal = Self::open_unchanged(storage);
        restore_shared_log(&journal.files)?;
        Ok(journal)
    }

    /// Opens the journals to be read beside a server that may be writing them.
    pub fn open_unchanged(storage: Arc<dyn Storage>) -> Self {
        Self { files: OpenFiles::new(storage) }
    }

    /// Appends a record that is on the disk, power loss or not, when this returns.
    pub fn append_synced(&self, session: &SessionId, record: &Record) -> Result<(), JournalError> {
        self.append_pending(session, record)?.accept();
        Ok(())
    }

    /// Appends a record that is on the disk when this returns, and leaves it to the caller whether
    /// it stays.
    pub fn append_pending(
        &self,
        session: &SessionId,
        record: &Record,
    ) -> Result<PendingLine, JournalError> {
        let line = line_for(session, record)?;
        let mut file = self.files.for_writing(session).blocking_lock_owned();
        file.write(self.files.storage(), session, line.as_bytes())?;
        file.sync()?;
        Ok(PendingLine(file))
    }

    /// Appends a record without waiting for the disk: if a power loss takes it, recovery only
    /// starts from an earlier step of a turn whose prompt is safe.
    pub fn append(&self, session: &SessionId, record: &Record) -> Result<(), JournalError> {
        let line = line_for(session, record)?;
        let mut file = self.files.for_writing(session).blocking_lock_owned();
        file.write(self.files.storage(), session, line.as_bytes())?;
        file.accept();
        Ok(())
    }
}

impl PendingLine {
    pub fn accept(mut self) {
        self.0.accept();
    }

    /// Removes the line again. Blocks on the disk.
    pub fn cut_off(mut self) {
        self.0.cut_off();
    }
}

pub(super) fn line_for(session: &SessionId, record: &Record) -> Result<String, JournalError> {
    if let Some(named) = record.session_id.as_ref().filter(|named| *named != session) {
        return Err(Malformed::OtherSession(named.clone()).into());
    }
    Ok(record.to_line()?)
}
