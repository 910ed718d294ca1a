//! How much it costs to look through the journals at start.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use tempfile::TempDir;
use throughline::domain::ids::{SessionId, TurnId};
use throughline::server::data::Data;
use throughline::server::journal::file_name;
use throughline::server::turns::recovery::recover;
use throughline::wire::journal::{Record, Submission, TurnEvent};

use crate::data::{fill, session_id};
use crate::measure::Samples;
use crate::report::{Report, grouped};

const JOURNALS: usize = 10_000;
const TURNS_EACH: usize = 3;

/// One journal in this many has a turn without an end.
const ONE_PENDING_IN: usize = 100;

const ROUNDS: usize = 5;

/// Recovers a data directory whose last stop cut some turns short.
pub async fn run(report: &mut Report) -> Result<()> {
    report.begin("recovery", "startup over journals of 3 ended turns each, 1 % with a pending one");
    let folder = TempDir::new()?;
    fill(folder.path(), JOURNALS, 0).await?;
    write_journals(folder.path())?;
    let mut samples = Samples::default();
    for round in 0..ROUNDS {
        leave_pending(folder.path(), round)?;
        let data = Data::open(folder.path()).await?;
        samples
            .block(1, async || {
                let recovered = recover(&data.store, &data.turn_log).await?;
                ensure!(recovered.turns == JOURNALS / ONE_PENDING_IN, "{recovered:?}");
                Ok(())
            })
            .await?;
        data.store.close().await;
    }
    report.measured("recover", &format!("{} journals", grouped(JOURNALS)), &samples, "");
    report.at_most("CPU of the costliest run", samples.most_cpu(), Duration::from_secs(2));
    Ok(())
}

fn write_journals(folder: &Path) -> Result<()> {
    let journals = folder.join("_turn_journal");
    fs::create_dir_all(&journals)?;
    for number in 0..JOURNALS {
        let session = session_id(number)?;
        let mut lines = String::new();
        for turn in 0..TURNS_EACH {
            let turn = turn_id(&session, &format!("ended{turn}"))?;
            let steps = [
                submitted(),
                TurnEvent::WorkerStarted,
                TurnEvent::AssistantStarted,
                TurnEvent::Completed { assistant_message_id: None },
            ];
            for step in steps {
                lines.write_str(&line(&session, &turn, step)?)?;
            }
        }
        fs::write(journals.join(file_name(&session)), lines)?;
    }
    Ok(())
}

/// Appends a turn that never ended to some journals.
fn leave_pending(folder: &Path, round: usize) -> Result<()> {
    for number in (0..JOURNALS).step_by(ONE_PENDING_IN) {
        let session = session_id(number)?;
        let turn = turn_id(&session, &format!("pending{round}"))?;
        let file = folder.join("_turn_journal").join(file_name(&session));
        let line = line(&session, &turn, submitted())?;
        OpenOptions::new().append(true).open(file)?.write_all(line.as_bytes())?;
    }
    Ok(())
}

fn turn_id(session: &SessionId, name: &str) -> Result<TurnId> {
    Ok(TurnId::parse(&format!("{session}.{name}"))?)
}

fn submitted() -> TurnEvent {
    TurnEvent::Submitted(Submission {
        content: "Please look at the tests once more and tell me what is left to do.".to_owned(),
        attachments: Vec::new(),
        workspace: "/home/someone/work".to_owned(),
        model: None,
        model_provider: None,
    })
}

fn line(session: &SessionId, turn: &TurnId, event: TurnEvent) -> Result<String> {
    Ok(Record::new(turn, session, 1_767_225_600.0, event).to_line()?)
}
