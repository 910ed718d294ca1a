//! Restores the log that version 0.1 shared between sessions. Turns submitted at the same moment
//! were synced in `together.lines` alone, so a session's own file may lack them after a power loss.

use std::collections::{BTreeMap, HashSet};
use std::io;

use super::bounded_lines::BoundedLines;
use super::error::JournalError;
use super::open_files::OpenFiles;
use super::reader::{Load, read_session};
use super::writer::line_for;
use crate::domain::ids::SessionId;
use crate::domain::turn::Step;
use crate::wire::journal::Record;

const SHARED_LOG: &str = "together.lines";

/// Appends to each session's file the lines that it lost, then removes the log. A log whose lines
/// cannot all be restored stays for the next start.
pub(super) fn restore_shared_log(files: &OpenFiles) -> Result<(), JournalError> {
    let storage = files.storage();
    let Some(source) = storage.read(SHARED_LOG)? else {
        return Ok(());
    };
    let mut is_restored = true;
    for (session, records) in records_by_session(BoundedLines::new(source))? {
        // One file that cannot be used must not keep the others from being restored.
        if let Err(error) = restore_to_session_file(files, &session, &records) {
            tracing::error!(%session, %error, "lines of the shared log cannot be restored");
            is_restored = false;
        }
    }
    if is_restored {
        storage.remove(SHARED_LOG)?;
        storage.sync_folder()?;
    }
    Ok(())
}

pub(super) fn is_shared_log(file_name: &str) -> bool {
    file_name == SHARED_LOG
}

/// Reads what was submitted. A line that a crash cut short was acknowledged to nobody.
fn records_by_session(
    mut lines: BoundedLines<impl io::Read>,
) -> io::Result<BTreeMap<SessionId, Vec<Record>>> {
    let mut records = BTreeMap::<SessionId, Vec<Record>>::new();
    while let Some(line) = lines.read()? {
        let Ok(record) = Record::from_line(line.bytes) else {
            tracing::warn!(line = line.number, "a line of the shared log was cut short");
            continue;
        };
        if let (Some(session), Step::Submitted) = (record.session_id.clone(), record.event.step()) {
            records.entry(session).or_default().push(record);
        }
    }
    Ok(records)
}

fn restore_to_session_file(
    files: &OpenFiles,
    session: &SessionId,
    records: &[Record],
) -> Result<(), JournalError> {
    files.with_exclusive(session, |file, storage| {
        let mut known = HashSet::new();
        if let Some(source) = file.read(storage, session)? {
            let turns = read_session(session, source, Load::Pending)?.turns;
            known.extend(turns.into_iter().map(|turn| turn.turn_id));
        }
        for record in records.iter().filter(|record| known.insert(record.turn_id.clone())) {
            file.write(storage, session, line_for(session, record)?.as_bytes())?;
            file.accept();
        }
        file.sync_accepted(storage, session)
    })
}
