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
    /// Appends one line; a failure leaves the file to be mended before the next. Where there is
    /// something to do meanwhile, it is done and the disk is waited for.
    pub(super) fn append(
        &mut self,
        storage: &dyn Storage,
        session: &SessionId,
        line: &[u8],
        meanwhile: Option<impl FnOnce()>,
    ) -> Result<(), JournalError> {
        let mut open = match self.open.take() {
            Some(open) => open,
            None => self.reopen(storage, session)?,
        };
        match open.append(line, meanwhile) {
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
        let mut open = Self { file, accepted: Accepted { synced, unsynced: Vec::new() }, torn };
        if let Some(accepted) = accepted.filter(|accepted| !accepted.unsynced.is_empty()) {
            open.append(&accepted.unsynced, Some(|| ()))?;
        }
        Ok(open)
    }

    fn append(&mut self, line: &[u8], meanwhile: Option<impl FnOnce()>) -> io::Result<()> {
        let bytes = if self.torn {
            // A torn line ends here, so that it takes no other with it.
            Cow::Owned([b"\n", line].concat())
        } else {
            Cow::Borrowed(line)
        };
        self.file.append(&bytes)?;
        if let Some(meanwhile) = meanwhile {
            meanwhile();
            self.file.sync()?;
            let waiting = std::mem::take(&mut self.accepted.unsynced);
            self.accepted.synced += (waiting.len() + bytes.len()) as u64;
        } else {
            self.accepted.unsynced.extend_from_slice(&bytes);
        }
        self.torn = false;
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
