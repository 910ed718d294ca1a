//! One session's journal file: open or closed, sound or in need of repair.

use std::borrow::Cow;
use std::io::{self, Read};

use super::error::JournalError;
use super::storage::{AppendFile, Storage, file_name};
use crate::domain::ids::SessionId;

/// What the file must hold: every accepted line and no refused one.
#[derive(Default)]
struct Accepted {
    /// How many bytes are on the disk.
    synced: u64,
    /// What was appended since the last sync. It is kept because a sync that fails may have dropped
    /// those bytes for good, while reading still shows them.
    unsynced: Vec<u8>,
}

struct OpenFile {
    file: Box<dyn AppendFile>,
    accepted: Accepted,
    /// A line that was written and is neither accepted nor refused yet.
    pending: Vec<u8>,
    pending_is_synced: bool,
    /// The file does not end with a newline.
    is_torn: bool,
}

/// One session's file; the holder of its lock has the file to itself.
#[derive(Default)]
pub(super) struct SessionFile {
    open: Option<OpenFile>,
    needs_repair: Option<Accepted>,
}

impl SessionFile {
    /// Writes one line, which [`Self::accept`] or [`Self::cut_off`] must follow before the lock is
    /// released. A failure leaves the file to be repaired before the next line.
    pub(super) fn write(
        &mut self,
        storage: &dyn Storage,
        session: &SessionId,
        line: &[u8],
    ) -> Result<(), JournalError> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.reopen(storage, session)?,
        };
        let written = open.write(line);
        self.keep_open(open, written)
    }

    /// Returns once all of the file is on the disk.
    pub(super) fn sync(&mut self) -> Result<(), JournalError> {
        let Some(mut open) = self.open.take() else {
            return Ok(());
        };
        let synced = open.sync();
        self.keep_open(open, synced)
    }

    /// Accepts the line that was written.
    pub(super) fn accept(&mut self) {
        if let Some(open) = &mut self.open {
            open.accept();
        }
    }

    /// Removes the line that was written, as after a failed sync.
    pub(super) fn cut_off(&mut self) {
        if let Some(open) = self.open.take() {
            self.needs_repair = Some(open.give_up());
        }
    }

    /// Puts everything accepted on the disk, whatever happened to the file before.
    pub(super) fn sync_accepted(
        &mut self,
        storage: &dyn Storage,
        session: &SessionId,
    ) -> Result<(), JournalError> {
        if self.open.is_some() {
            return self.sync();
        }
        self.open = Some(self.reopen(storage, session)?);
        Ok(())
    }

    /// Opens the file to be read, without a refused line that could not be cut off yet.
    pub(super) fn read(
        &self,
        storage: &dyn Storage,
        session: &SessionId,
    ) -> io::Result<Option<Box<dyn Read + '_>>> {
        let Some(file) = storage.read(&file_name(session))? else {
            return Ok(None);
        };
        Ok(Some(match &self.needs_repair {
            Some(accepted) => Box::new(file.take(accepted.synced).chain(&*accepted.unsynced)),
            None => file,
        }))
    }

    /// Repairs the file if it must be, and closes it.
    pub(super) fn close(
        &mut self,
        storage: &dyn Storage,
        session: &SessionId,
    ) -> Result<(), JournalError> {
        if self.needs_repair.is_some() {
            self.reopen(storage, session)?;
        }
        self.open = None;
        Ok(())
    }

    /// Tells whether forgetting this would lose what is needed to repair the file.
    pub(super) fn needs_repair(&self) -> bool {
        self.needs_repair.is_some()
    }

    fn keep_open(&mut self, open: OpenFile, done: io::Result<()>) -> Result<(), JournalError> {
        match done {
            Ok(()) => {
                self.open = Some(open);
                Ok(())
            }
            Err(error) => {
                self.needs_repair = Some(open.give_up());
                Err(error.into())
            }
        }
    }

    fn reopen(
        &mut self,
        storage: &dyn Storage,
        session: &SessionId,
    ) -> Result<OpenFile, JournalError> {
        let opened = OpenFile::open(storage, session, self.needs_repair.as_ref());
        match (opened, &self.needs_repair) {
            (Ok(open), _) => {
                self.needs_repair = None;
                Ok(open)
            }
            (Err(error), None) => Err(error.into()),
            (Err(error), Some(_)) => Err(JournalError::NeedsRepair(Box::new(error.into()))),
        }
    }
}

impl OpenFile {
    /// Opens the file with all of it on the disk, cut back to what was accepted.
    fn open(
        storage: &dyn Storage,
        session: &SessionId,
        accepted: Option<&Accepted>,
    ) -> io::Result<Self> {
        let mut file = storage.open(&file_name(session))?;
        let found = file.len()?;
        let synced = accepted.map_or(found, |accepted| accepted.synced.min(found));
        if synced < found {
            file.truncate(synced)?;
        }
        // Nobody knows what was left unsynced before: bytes by a process that was killed, the name
        // of a new or replaced file by a sync that failed.
        if found > 0 {
            file.sync()?;
        }
        storage.sync_folder()?;
        let is_torn = file.last_byte()?.is_some_and(|byte| byte != b'\n');
        let accepted_now = Accepted { synced, unsynced: Vec::new() };
        let mut open = Self {
            file,
            accepted: accepted_now,
            pending: Vec::new(),
            pending_is_synced: false,
            is_torn,
        };
        if let Some(accepted) = accepted.filter(|accepted| !accepted.unsynced.is_empty()) {
            open.write(&accepted.unsynced)?;
            open.sync()?;
            open.accept();
        }
        Ok(open)
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let bytes = if self.is_torn {
            // A torn line ends here, so that it takes no other with it.
            Cow::Owned([b"\n", line].concat())
        } else {
            Cow::Borrowed(line)
        };
        self.file.append(&bytes)?;
        self.pending.extend_from_slice(&bytes);
        self.pending_is_synced = false;
        self.is_torn = false;
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()?;
        self.accepted.synced += self.accepted.unsynced.len() as u64;
        self.accepted.unsynced.clear();
        self.pending_is_synced = true;
        Ok(())
    }

    fn accept(&mut self) {
        if self.pending_is_synced {
            self.accepted.synced += self.pending.len() as u64;
            self.pending.clear();
        } else {
            self.accepted.unsynced.append(&mut self.pending);
        }
    }

    /// Cuts off what was not accepted, if the disk still lets us, and returns what must be left.
    fn give_up(mut self) -> Accepted {
        let len = self.accepted.synced + self.accepted.unsynced.len() as u64;
        // Repair cuts again and reports what goes wrong; this only keeps a crash from showing what
        // was refused.
        if self.file.truncate(len).is_ok() && self.pending_is_synced {
            let _ = self.file.sync();
        }
        self.accepted
    }
}
