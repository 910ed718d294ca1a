//! Drops turns that ended long ago from a journal that is understood in full.

use std::collections::HashSet;
use std::io;

use super::error::JournalError;
use super::lines::Lines;
use super::reader::{Keep, read_session};
use super::slot::Slot;
use super::storage::{Storage, draft_name, file_name};
use super::writer::Journal;
use crate::domain::ids::{SessionId, TurnId};
use crate::server::lock::lock;
use crate::wire::journal::Record;

/// Counts turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pruned {
    pub turns: usize,
    pub kept: usize,
}

impl Journal {
    /// Drops the turns that ended before a time, in seconds since 1970, and keeps every other line
    /// byte for byte.
    pub fn prune(&self, session: &SessionId, older_than: f64) -> Result<Pruned, JournalError> {
        self.settled_with(session, |slot, storage| {
            // The open file is about to lose its name.
            slot.close(storage, session)?;
            let (outdated, kept) = sort_out(slot, storage, session, older_than)?;
            if !outdated.is_empty() {
                let lines = lines_without(&outdated, slot, storage, session)?;
                write_anew(storage, session, &lines)?;
            }
            Ok(Pruned { turns: outdated.len(), kept })
        })
    }

    /// Removes the whole journal of a session that nobody wants back.
    pub fn remove(&self, session: &SessionId) -> Result<(), JournalError> {
        self.settled_with(session, |slot, storage| {
            slot.close(storage, session)?;
            if slot.read(storage, session)?.is_some() {
                storage.remove(&file_name(session))?;
                storage.sync_folder()?;
            }
            Ok(())
        })
    }

    /// Drops something from a file such that it does not come home again.
    fn settled_with<T>(
        &self,
        session: &SessionId,
        work: impl FnOnce(&mut Slot, &dyn Storage) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let mut together = lock(&self.together);
        together.settle(&self.files)?;
        self.files.alone_with(session, work)
    }
}

/// Finds the turns to drop, and counts the others.
fn sort_out(
    slot: &Slot,
    storage: &dyn Storage,
    session: &SessionId,
    older_than: f64,
) -> Result<(HashSet<TurnId>, usize), JournalError> {
    let Some(source) = slot.read(storage, session)? else {
        return Ok(Default::default());
    };
    let journal = read_session(session, source, Keep::Pending)?;
    if !journal.problems.is_empty() {
        return Err(JournalError::Unsound(journal.problems.len()));
    }
    let all = journal.turns.len();
    let ended = journal.turns.into_iter().filter(|turn| turn.state.is_terminal());
    let outdated: HashSet<TurnId> =
        ended.filter(|turn| turn.last_at < older_than).map(|turn| turn.turn_id).collect();
    let kept = all - outdated.len();
    Ok((outdated, kept))
}

fn lines_without(
    outdated: &HashSet<TurnId>,
    slot: &Slot,
    storage: &dyn Storage,
    session: &SessionId,
) -> Result<Vec<u8>, JournalError> {
    let mut kept = Vec::new();
    let Some(source) = slot.read(storage, session)? else {
        return Ok(kept);
    };
    let mut lines = Lines::new(source);
    while let Some(line) = lines.read()? {
        let record = Record::from_line(line.bytes);
        if !record.is_ok_and(|record| outdated.contains(&record.turn_id)) {
            kept.extend_from_slice(line.bytes);
        }
    }
    Ok(kept)
}

/// Puts new content in a file's place, such that a crash leaves either the old or the new.
fn write_anew(storage: &dyn Storage, session: &SessionId, bytes: &[u8]) -> io::Result<()> {
    let name = file_name(session);
    if bytes.trim_ascii().is_empty() {
        storage.remove(&name)?;
        return storage.sync_folder();
    }
    let draft = draft_name(session);
    let written = write_draft(storage, &draft, bytes).and_then(|()| storage.rename(&draft, &name));
    if let Err(error) = written {
        // On a full disk it would only take more room; opening the journal removes it as well.
        let _ = storage.remove(&draft);
        return Err(error);
    }
    storage.sync_folder()
}

fn write_draft(storage: &dyn Storage, draft: &str, bytes: &[u8]) -> io::Result<()> {
    let mut file = storage.open(draft)?;
    if !file.is_empty()? {
        file.truncate(0)?;
    }
    file.append(bytes)?;
    file.sync()
}
