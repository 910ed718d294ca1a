//! One file for the lines of many: those who wait for the disk at the same moment share one sync.
//!
//! A line is written to its session's file as ever, and a second time to this one, which alone is
//! synced. What is here comes home by the next start, or when the file has grown: the sessions'
//! files are synced, or given the lines that they lost, and this one goes.

use std::collections::{BTreeMap, HashSet};
use std::io;

use super::error::JournalError;
use super::files::Files;
use super::lines::Lines;
use super::reader::{Keep, read_session};
use super::storage::{AppendFile, Storage};
use super::writer::line_for;
use crate::domain::ids::SessionId;
use crate::domain::turn::Step;
use crate::wire::journal::Record;

/// No session's file has this ending.
const NAME: &str = "together.lines";

/// How large the file grows before its lines come home, at a time when nobody waits.
pub(super) const LARGE: u64 = 1 << 20;

/// How large it grows while there is no such time.
pub(super) const LARGEST: u64 = 8 * LARGE;

#[derive(Default)]
pub(super) struct Together {
    file: Option<Box<dyn AppendFile>>,
    len: u64,
    /// Whose lines are on the disk here, and perhaps not yet at home.
    guests: HashSet<SessionId>,
    health: Health,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum Health {
    #[default]
    Sound,
    /// A write failed; the file is not used before its lines are home.
    Failed,
    /// Lines of an earlier run could not all be brought home. They stay until the next start.
    Left,
}

/// Tells whether a file is the one for the lines of many.
pub(super) fn is_together(file_name: &str) -> bool {
    file_name == NAME
}

impl Together {
    /// Brings home what an earlier run left.
    pub fn open(files: &Files) -> Result<Self, JournalError> {
        let Some(source) = files.storage().read(NAME)? else {
            return Ok(Self::default());
        };
        let mut health = Health::Sound;
        for (session, records) in records_by_session(Lines::new(source))? {
            // One file that cannot be used must not keep the others from being mended.
            if let Err(error) = bring_home(files, &session, &records) {
                tracing::error!(%session, %error, "lines cannot be brought home to a journal");
                health = Health::Left;
            }
        }
        if health == Health::Sound {
            remove(files.storage())?;
        }
        Ok(Self { health, ..Self::default() })
    }

    /// Brings lines home if there are many, and mends what a failed write left, as far as the disk
    /// lets us.
    pub fn make_room(&mut self, files: &Files, most: u64) {
        if (self.health == Health::Failed || self.len > most)
            && let Err(error) = self.settle(files)
        {
            tracing::warn!(%error, "lines stay in the file for many");
        }
    }

    /// Tells whether the lines are on the disk. If not, each has to be synced at home.
    pub fn append<'a>(
        &mut self,
        storage: &dyn Storage,
        lines: impl Iterator<Item = (&'a SessionId, &'a [u8])>,
    ) -> bool {
        if self.health != Health::Sound {
            return false;
        }
        let (sessions, lines): (Vec<_>, Vec<_>) = lines.unzip();
        match self.write(storage, &lines.concat()) {
            Ok(()) => {
                self.guests.extend(sessions.into_iter().cloned());
                true
            }
            Err(error) => {
                tracing::warn!(%error, "the file for many failed");
                if let Some(mut file) = self.file.take() {
                    // Keeps a crash from showing what is perhaps refused in a moment.
                    let _ = file.truncate(self.len);
                }
                self.health = Health::Failed;
                false
            }
        }
    }

    /// Makes the sessions' own files hold all that is here.
    pub fn settle(&mut self, files: &Files) -> Result<(), JournalError> {
        if self.health == Health::Left || (self.health == Health::Sound && self.file.is_none()) {
            return Ok(());
        }
        for session in &self.guests {
            files.alone_with(session, |slot, storage| slot.settle(storage, session))?;
        }
        remove(files.storage())?;
        *self = Self::default();
        Ok(())
    }

    fn write(&mut self, storage: &dyn Storage, bytes: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let file = storage.open(NAME)?;
                storage.sync_folder()?;
                self.file.insert(file)
            }
        };
        file.append(bytes)?;
        file.sync()?;
        self.len += bytes.len() as u64;
        Ok(())
    }
}

/// Reads what was submitted. A line that a crash cut short was promised to nobody.
fn records_by_session(
    mut lines: Lines<impl io::Read>,
) -> io::Result<BTreeMap<SessionId, Vec<Record>>> {
    let mut records = BTreeMap::<SessionId, Vec<Record>>::new();
    while let Some(line) = lines.read()? {
        let Ok(record) = Record::from_line(line.bytes) else {
            tracing::warn!(line = line.number, "a line for many was cut short");
            continue;
        };
        if let (Some(session), Step::Submitted) = (record.session_id.clone(), record.event.step()) {
            records.entry(session).or_default().push(record);
        }
    }
    Ok(records)
}

/// Appends to a session's file what a power loss took from it, and waits for the disk.
fn bring_home(files: &Files, session: &SessionId, records: &[Record]) -> Result<(), JournalError> {
    files.alone_with(session, |slot, storage| {
        let mut known = HashSet::new();
        if let Some(source) = slot.read(storage, session)? {
            let turns = read_session(session, source, Keep::Pending)?.turns;
            known.extend(turns.into_iter().map(|turn| turn.turn_id));
        }
        for record in records.iter().filter(|record| known.insert(record.turn_id.clone())) {
            slot.write(storage, session, line_for(session, record)?.as_bytes())?;
        }
        slot.settle(storage, session)
    })
}

fn remove(storage: &dyn Storage) -> io::Result<()> {
    match storage.remove(NAME) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => storage.sync_folder(),
    }
}
