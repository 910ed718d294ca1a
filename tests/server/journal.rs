//! The journal on a disk that loses power, fills up and fails, and on a real one.

mod crash;
mod faults;
mod files;
mod pending_line;
mod prune;
mod reader;
mod shared_log;

use std::sync::Arc;

use throughline::domain::ids::{SessionId, TurnId};
use throughline::server::journal::{Journal, file_name};
use throughline::wire::journal::{Record, Submission, TurnEvent};

use crate::crash_storage::{CrashDisk, Moment, Operation};

fn session(name: &str) -> SessionId {
    SessionId::parse(name).unwrap()
}

fn record(session: &SessionId, turn: &str, at: f64, event: TurnEvent) -> Record {
    Record::new(&TurnId::parse(turn).unwrap(), session, at, event)
}

fn submitted(session: &SessionId, turn: &str, at: f64, content: &str) -> Record {
    let submission = Submission {
        content: content.into(),
        attachments: Vec::new(),
        workspace: "/workspace".into(),
        model: None,
        model_provider: None,
    };
    record(session, turn, at, TurnEvent::Submitted(submission))
}

fn completed() -> TurnEvent {
    TurnEvent::Completed { assistant_message_id: None }
}

fn interrupted(reason: &str) -> TurnEvent {
    TurnEvent::Interrupted { reason: Some(reason.into()) }
}

fn open(disk: &CrashDisk) -> Journal {
    Journal::open(Arc::new(disk.clone())).unwrap()
}

/// Gives a disk for every way in which the power can go during what was rehearsed; appends are torn
/// at every so many bytes, and at their end.
fn crashes(rehearsal: &CrashDisk, bytes: usize) -> Vec<CrashDisk> {
    let moments = |operation| {
        let mut moments = vec![Moment::Before, Moment::After];
        if let Operation::Append(length) = operation {
            let places = (1..length).step_by(bytes).chain([length - 2, length - 1]);
            moments.extend(places.map(Moment::Torn));
        }
        moments
    };
    let operations = rehearsal.take_operations().into_iter().enumerate();
    let crash = |(number, moment)| {
        let disk = CrashDisk::default();
        disk.crash_at(number, moment);
        disk
    };
    let all =
        operations.flat_map(|(number, it)| moments(it).into_iter().map(move |it| (number, it)));
    all.map(crash).collect()
}

/// Reads the whole lines of a session's file, by nothing but the newline.
fn records_on(disk: &CrashDisk, session: &SessionId) -> Vec<Record> {
    let bytes = disk.content(&file_name(session)).unwrap_or_default();
    bytes.split(|byte| *byte == b'\n').filter_map(|line| Record::from_line(line).ok()).collect()
}

fn lines(records: &[Record]) -> Vec<u8> {
    records.iter().flat_map(|record| record.to_line().unwrap().into_bytes()).collect()
}
