//! One session's file: open or closed, sound or waiting to be mended.

use std::borrow::Cow;
use std::io::{self, Read};

use super::error::JournalError;
use super::storage::{AppendFile, Storage, file_name};
use crate::domain::ids::SessionId;

/// What the file must hold: all that was accepted and nothing that was refused.
#[derive(Default)]
struct Accepted {
    synced: u64,
    /// What was appended since the last sync. It is kept because a sync that fails may have dropped
    /// those bytes for good, while reading still shows them.
    unsynced: Vec<u8>,
}

struct OpenFile {
    file: Box<dyn AppendFile>,
    accepted: Accepted,
    /// What was appended and is neither accepted nor refused yet.
    written: Vec<u8>,
    /// The file does not end with a newline.
    torn: bool,
}

/// Holds one session's file; whoever has it locked is alone with the file.
#[derive(Default)]
pub(super) struct Slot {
    open: Option<OpenFile>,
    poisoned: Option<Accepted>,
}

impl Slot {
    /// Writes one line, which [`Self::accept`] or [`Self::sync`] must follow before the lock is
    /// given up. A failure here or there leaves the file to be mended before the next line.
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
        self.keep(open, written)
    }

    /// Takes what was written for good without waiting for the disk.
    pub(super) fn accept(&mut self) {
        if let Some(open) = &mut self.open {
            open.accept();
        }
    }

    /// Takes what was written for good once all of the file is on the disk.
    pub(super) fn sync(&mut self) -> Result<(), JournalError> {
        let Some(mut open) = self.open.take() else {
            return Ok(());
        };
        let synced = open.sync();
        self.keep(open, synced)
    }

    /// Puts all that was accepted on the disk, whatever happened to the file before.
    pub(super) fn settle(
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

    /// Opens the file to be read, without what was refused but could not be cut off yet.
    pub(super) fn read(
        &self,
        storage: &dyn Storage,
        session: &SessionId,
    ) -> io::Result<Option<Box<dyn Read + '_>>> {
        let Some(file) = storage.read(&file_name(session))? else {
            return Ok(None);
        };
        Ok(Some(match &self.poisoned {
            Some(accepted) => Box::new(file.take(accepted.synced).chain(&*accepted.unsynced)),
            None => file,
        }))
    }

    /// Mends the file if it must be, and lets go of it.
    pub(super) fn close(
        &mut self,
        storage: &dyn Storage,
        session: &SessionId,
    ) -> Result<(), JournalError> {
        if self.poisoned.is_some() {
            self.reopen(storage, session)?;
        }
        self.open = None;
        Ok(())
    }

    /// Tells whether forgetting this slot would lose what is needed to mend the file.
    pub(super) fn is_poisoned(&self) -> bool {
        self.poisoned.is_some()
    }

    fn keep(&mut self, open: OpenFile, done: io::Result<()>) -> Result<(), JournalError> {
        match done {
            Ok(()) => {
                self.open = Some(open);
                Ok(())
            }
            Err(error) => {
                self.poisoned = Some(open.give_up());
                Err(error.into())
            }
        }
    }

    fn reopen(
        &mut self,
        storage: &dyn Storage,
        session: &SessionId,
    ) -> Result<OpenFile, JournalError> {
        let opened = OpenFile::open(storage, session, self.poisoned.as_ref());
        match (opened, &self.poisoned) {
            (Ok(open), _) => {
                self.poisoned = None;
                Ok(open)
            }
            (Err(error), None) => Err(error.into()),
            (Err(error), Some(_)) => Err(JournalError::Poisoned(Box::new(error.into()))),
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
        let torn = file.last_byte()?.is_some_and(|byte| byte != b'\n');
        let accepted_now = Accepted { synced, unsynced: Vec::new() };
        let mut open = Self { file, accepted: accepted_now, written: Vec::new(), torn };
        if let Some(accepted) = accepted.filter(|accepted| !accepted.unsynced.is_empty()) {
            open.write(&accepted.unsynced)?;
            open.sync()?;
        }
        Ok(open)
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let bytes = if self.torn {
            // A torn line ends here, so that it takes no other with it.
            Cow::Owned([b"\n", line].concat())
        } else {
            Cow::Borrowed(line)
        };
        self.file.append(&bytes)?;
        self.written.extend_from_slice(&bytes);
        self.torn = false;
        Ok(())
    }

    fn accept(&mut self) {
        self.accepted.unsynced.append(&mut self.written);
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()?;
        self.accept();
        self.accepted.synced += self.accepted.unsynced.len() as u64;
        self.accepted.unsynced.clear();
        Ok(())
    }

    /// Cuts off what was refused, if the disk still lets us, and says what must be left.
    fn give_up(mut self) -> Accepted {
        let len = self.accepted.synced + self.accepted.unsynced.len() as u64;
        // Mending cuts again and reports what goes wrong; this only keeps a crash from showing
        // what was refused.
        let _ = self.file.truncate(len);
        self.accepted
    }
}
