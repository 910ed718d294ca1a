//! Drops turns that ended long ago from a journal that is understood in full.

use std::collections::HashSet;
use std::io;

use super::bounded_lines::BoundedLines;
use super::error::JournalError;
use super::reader::{Load, read_session};
use super::session_file::SessionFile;
use super::storage::{Storage, file_name, temp_name};
use super::writer::Journal;
use crate::domain::ids::{SessionId, TurnId};
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
        self.files.with_exclusive(session, |file, storage| {
            // The open file is about to lose its name.
            file.close(storage, session)?;
            let (outdated, kept) = find_outdated(file, storage, session, older_than)?;
            if !outdated.is_empty() {
                let lines = lines_without(&outdated, file, storage, session)?;
                replace_file(storage, session, &lines)?;
            }
            Ok(Pruned { turns: outdated.len(), kept })
        })
    }

    /// Removes the whole journal of a session that nobody wants back.
    pub fn remove(&self, session: &SessionId) -> Result<(), JournalError> {
        self.files.with_exclusive(session, |file, storage| {
            file.close(storage, session)?;
            if file.read(storage, session)?.is_some() {
                storage.remove(&file_name(session))?;
                storage.sync_folder()?;
            }
            Ok(())
        })
    }
}

/// Finds the turns to drop, and counts the others.
fn find_outdated(
    file: &SessionFile,
    storage: &dyn Storage,
    session: &SessionId,
    older_than: f64,
) -> Result<(HashSet<TurnId>, usize), JournalError> {
    let Some(source) = file.read(storage, session)? else {
        return Ok(Default::default());
    };
    let journal = read_session(session, source, Load::Pending)?;
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
    file: &SessionFile,
    storage: &dyn Storage,
    session: &SessionId,
) -> Result<Vec<u8>, JournalError> {
    let mut kept = Vec::new();
    let Some(source) = file.read(storage, session)? else {
        return Ok(kept);
    };
    let mut lines = BoundedLines::new(source);
    while let Some(line) = lines.read()? {
        let record = Record::from_line(line.bytes);
        if !record.is_ok_and(|record| outdated.contains(&record.turn_id)) {
            kept.extend_from_slice(line.bytes);
        }
    }
    Ok(kept)
}

/// Puts new content in a file's place, such that a crash leaves either the old or the new.
fn replace_file(storage: &dyn Storage, session: &SessionId, bytes: &[u8]) -> io::Result<()> {
    let name = file_name(session);
    if bytes.trim_ascii().is_empty() {
        storage.remove(&name)?;
        return storage.sync_folder();
    }
    let temp = temp_name(session);
    let written = write_temp(storage, &temp, bytes).and_then(|()| storage.rename(&temp, &name));
    if let Err(error) = written {
        // On a full disk it would only take more room; opening the journal removes it as well.
        let _ = storage.remove(&temp);
        return Err(error);
    }
    storage.sync_folder()
}

fn write_temp(storage: &dyn Storage, temp: &str, bytes: &[u8]) -> io::Result<()> {
    let mut file = storage.open(temp)?;
    if !file.is_empty()? {
        file.truncate(0)?;
    }
    file.append(bytes)?;
    file.sync()
}
