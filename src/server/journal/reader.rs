//! Tells what a journal says: its turns, and every problem on the way to them.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read};

use super::bounded_lines::{BoundedLine, BoundedLines};
use super::error::JournalError;
use super::shared_log::is_shared_log;
use super::storage::session_of;
use super::writer::Journal;
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::turn::{IllegalTransition, Step, advance};
use crate::wire::journal::{Malformed, Record, Submission, TurnEvent};

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Chooses whose prompts are kept in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Load {
    Everything,
    /// Turns that ended stay in the list without their submission.
    Pending,
}

/// What one file says.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionJournal {
    pub session_id: SessionId,
    /// In the order in which they were submitted.
    pub turns: Vec<Turn>,
    /// In the order of the file.
    pub problems: Vec<Problem>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    pub turn_id: TurnId,
    pub state: Step,
    pub submission: Option<Submission>,
    /// Seconds since 1970.
    pub submitted_at: f64,
    /// When the state was reached, in seconds since 1970.
    pub last_at: f64,
    /// Why the turn was interrupted.
    pub reason: Option<String>,
    /// The line on which the turn was submitted, counted from one.
    pub line: usize,
}

/// Something in a file that is not as the journal writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// The line is not used. A torn tail is what a crash leaves at the end of a file.
    Malformed { line: usize, reason: Malformed, torn_tail: bool },
    /// The record is whole and the state stays as it was.
    Illegal { line: usize, turn_id: TurnId, transition: IllegalTransition },
    /// The record is used all the same.
    Edited { line: usize, edit: ForeignEdit },
}

/// What only another program leaves in a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForeignEdit {
    ByteOrderMark,
    CarriageReturn,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed { line, torn_tail: true, .. } => {
                write!(formatter, "Line {line}, the last, was cut short by a crash.")
            }
            Self::Malformed { line, reason, .. } => {
                write!(formatter, "Line {line} cannot be used: {reason}.")
            }
            Self::Illegal { line, turn_id, transition } => {
                write!(formatter, "Line {line} does not fit turn {turn_id}: {transition}.")
            }
            Self::Edited { line, edit } => {
                let edit = match edit {
                    ForeignEdit::ByteOrderMark => "begins with a byte order mark",
                    ForeignEdit::CarriageReturn => "ends with a carriage return",
                };
                write!(formatter, "Line {line} {edit}: another program saved this file.")
            }
        }
    }
}

/// The files of the journal's folder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    pub sessions: Vec<SessionId>,
    /// Names of files that are no session's.
    pub unknown_files: Vec<String>,
}

impl Journal {
    /// Lists whose journals there are, in order.
    pub fn list(&self) -> Result<Listing, JournalError> {
        let mut names = self.files.storage().list()?;
        names.retain(|name| !is_shared_log(name));
        names.sort_unstable();
        let mut listing = Listing::default();
        for name in names {
            match session_of(&name) {
                Some(session) => listing.sessions.push(session),
                None => listing.unknown_files.push(name),
            }
        }
        Ok(listing)
    }

    /// Reads one session's journal; `None` when it has none.
    pub fn read(
        &self,
        session: &SessionId,
        load: Load,
    ) -> Result<Option<SessionJournal>, JournalError> {
        self.files.with_exclusive(session, |file, storage| match file.read(storage, session)? {
            Some(source) => Ok(Some(read_session(session, source, load)?)),
            None => Ok(None),
        })
    }
}

/// Reads a whole journal; only the disk can stop it.
pub fn read_session(
    session: &SessionId,
    source: impl Read,
    load: Load,
) -> io::Result<SessionJournal> {
    let mut lines = BoundedLines::new(source);
    let mut reading = Reading {
        journal: SessionJournal {
            session_id: session.clone(),
            turns: Vec::new(),
            problems: Vec::new(),
        },
        places: HashMap::new(),
        load,
    };
    while let Some(line) = lines.read()? {
        reading.take(&line);
    }
    Ok(reading.journal)
}

struct Reading {
    journal: SessionJournal,
    places: HashMap<TurnId, usize>,
    load: Load,
}

impl Reading {
    fn take(&mut self, line: &BoundedLine<'_>) {
        let number = line.number;
        let marked = line.bytes.strip_prefix(BYTE_ORDER_MARK).filter(|_| number == 1);
        let bytes = marked.unwrap_or(line.bytes);
        if bytes.trim_ascii().is_empty() {
            return;
        }
        match self.understand(bytes) {
            Ok(record) => {
                if marked.is_some() {
                    self.report(Problem::Edited { line: number, edit: ForeignEdit::ByteOrderMark });
                }
                if bytes.ends_with(b"\r\n") {
                    self.report(Problem::Edited {
                        line: number,
                        edit: ForeignEdit::CarriageReturn,
                    });
                }
                self.apply(number, record);
            }
            Err(reason) => {
                let cut =
                    matches!(reason, Malformed::NotJson | Malformed::NotText | Malformed::Zeros);
                let torn_tail = cut && !bytes.ends_with(b"\n");
                self.report(Problem::Malformed { line: number, reason, torn_tail });
            }
        }
    }

    fn understand(&self, bytes: &[u8]) -> Result<Record, Malformed> {
        let record = Record::from_line(bytes)?;
        match &record.session_id {
            Some(named) if *named != self.journal.session_id => {
                Err(Malformed::OtherSession(named.clone()))
            }
            _ => Ok(record),
        }
    }

    fn apply(&mut self, line: usize, record: Record) {
        let place = self.places.get(&record.turn_id).copied();
        let turn = place.and_then(|place| self.journal.turns.get_mut(place));
        match (advance(turn.as_ref().map(|turn| turn.state), record.event.step()), turn) {
            (Err(transition), _) => {
                self.report(Problem::Illegal { line, turn_id: record.turn_id, transition });
            }
            (Ok(state), Some(turn)) => turn.advance_to(state, record, self.load),
            (Ok(state), None) => {
                self.places.insert(record.turn_id.clone(), self.journal.turns.len());
                self.journal.turns.push(Turn::begin(line, state, record));
            }
        }
    }

    fn report(&mut self, problem: Problem) {
        self.journal.problems.push(problem);
    }
}

impl Turn {
    fn begin(line: usize, state: Step, record: Record) -> Self {
        let submission = match record.event {
            TurnEvent::Submitted(submission) => Some(submission),
            _ => None,
        };
        Self {
            turn_id: record.turn_id,
            state,
            submission,
            submitted_at: record.created_at,
            last_at: record.created_at,
            reason: None,
            line,
        }
    }

    fn advance_to(&mut self, state: Step, record: Record, load: Load) {
        self.state = state;
        self.last_at = record.created_at;
        if let TurnEvent::Interrupted { reason } = record.event {
            self.reason = reason;
        }
        if load == Load::Pending && state.is_terminal() {
            self.submission = None;
        }
    }
}
