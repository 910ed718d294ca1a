//! `throughline audit`, `repair` and `journal prune`.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::data::DataOptions;
use crate::server::data::{Data, DataLock};
use crate::server::mint;
use crate::server::turns::audit::{Auditor, RunningTurns};
use crate::wire::recovery::{Action, AuditReport, RepairReport, Severity};

#[derive(Debug, Args)]
pub struct AuditOptions {
    #[command(flatten)]
    data: DataOptions,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub struct RepairOptions {
    #[command(flatten)]
    data: DataOptions,
    /// Do it; without this, only tell what would be done
    #[arg(long)]
    apply: bool,
    /// Print the report as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
pub enum JournalCommand {
    /// Drop turns that ended long ago, where the audit finds nothing wrong
    Prune(PruneOptions),
}

#[derive(Debug, Args)]
pub struct PruneOptions {
    #[command(flatten)]
    data: DataOptions,
    /// How long ago a turn must have ended, such as 30d, 12h or 90m
    #[arg(long, value_name = "AGE", value_parser = age_in_seconds)]
    older_than: f64,
}

/// Prints what the audit found; exits 1 when something needs attention.
pub async fn audit(options: AuditOptions) -> anyhow::Result<ExitCode> {
    let folder = options.data.existing()?;
    // Looked at first: a turn that a server starts meanwhile is not reported as unfinished.
    let running = running_turns(folder)?;
    let data = Data::open_read_only(folder).await?;
    let report = auditor(&data, running).audit().await?;
    data.store.close().await;
    let mut out = std::io::stdout();
    if options.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        write!(out, "{}", in_words(&report))?;
    }
    Ok(if report.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub async fn repair(options: RepairOptions) -> anyhow::Result<ExitCode> {
    let folder = options.data.existing()?;
    let report = match options.apply {
        true => apply_repairs(folder).await?,
        false => {
            let running = running_turns(folder)?;
            let data = Data::open_read_only(folder).await?;
            let report = auditor(&data, running).repair(false).await?;
            data.store.close().await;
            report
        }
    };
    let mut out = std::io::stdout();
    if options.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&report)?)?;
    } else {
        write!(out, "{}", repairs_in_words(&report))?;
    }
    Ok(ExitCode::SUCCESS)
}

async fn apply_repairs(folder: &Path) -> anyhow::Result<RepairReport> {
    let _lock = DataLock::take(folder)?;
    let data = Data::open(folder).await?;
    let report = auditor(&data, none_running()).repair(true).await?;
    data.store.close().await;
    Ok(report)
}

pub async fn run(command: JournalCommand) -> anyhow::Result<ExitCode> {
    match command {
        JournalCommand::Prune(options) => prune(options).await,
    }
}

async fn prune(options: PruneOptions) -> anyhow::Result<ExitCode> {
    let folder = options.data.existing()?;
    let _lock = DataLock::take(folder)?;
    let data = Data::open(folder).await?;
    let report = auditor(&data, none_running()).audit().await?;
    if !report.is_sound() {
        let mut err = std::io::stderr();
        write!(err, "Nothing was pruned: the audit has findings.\n{}", in_words(&report))?;
        return Ok(ExitCode::FAILURE);
    }
    let before = mint::now().seconds() - options.older_than;
    let (mut turns, mut files) = (0, 0);
    for session in data.turn_log.blocking(|journal| journal.list()).await?.sessions {
        let pruned = data.turn_log.blocking(move |journal| journal.prune(&session, before)).await?;
        turns += pruned.turns;
        files += usize::from(pruned.turns > 0);
    }
    writeln!(std::io::stdout(), "Pruned {turns} turns from {files} journals.")?;
    Ok(ExitCode::SUCCESS)
}

fn auditor(data: &Data, running: RunningTurns) -> Auditor<'_> {
    Auditor { store: &data.store, log: &data.turn_log, blobs: &data.blobs, running }
}

/// A server that uses the data directory is the one that knows which turns run.
fn running_turns(folder: &Path) -> anyhow::Result<RunningTurns> {
    Ok(if DataLock::is_held(folder)? { RunningTurns::AllUnended } else { none_running() })
}

fn none_running() -> RunningTurns {
    RunningTurns::Known(HashSet::new())
}

fn in_words(report: &AuditReport) -> String {
    let mut text = format!("{} turns in {} journals.\n", report.turns, report.journals);
    let listed = report.findings.iter().filter(|finding| finding.severity != Severity::Ok);
    for finding in listed {
        let severity = match finding.severity {
            Severity::Ok => "ok",
            Severity::Warn => "note",
            Severity::Repairable => "repairable",
            Severity::Manual => "look",
        };
        text.push_str(&format!("[{severity}] {}: {}\n", finding.file, finding.message));
    }
    let quiet = report.findings.iter().filter(|it| it.severity == Severity::Ok).count();
    if quiet > 0 {
        text.push_str(&format!("{quiet} interrupted turns are marked as such.\n"));
    }
    if report.under_way > 0 {
        text.push_str(&format!("{} turns are running.\n", report.under_way));
    }
    if report.is_sound() {
        text.push_str("All is in order.\n");
    }
    text
}

fn repairs_in_words(report: &RepairReport) -> String {
    if report.repairs.is_empty() {
        return "There is nothing to repair.\n".to_owned();
    }
    let mut text = String::new();
    for repair in &report.repairs {
        let actions: Vec<_> = repair.actions.iter().map(|action| words_of(*action)).collect();
        text.push_str(&format!("{}: {}\n", repair.session_id, actions.join(", ")));
    }
    if !report.applied {
        text.push_str("Nothing was changed. Run it with --apply to do this.\n");
    }
    text
}

fn words_of(action: Action) -> &'static str {
    match action {
        Action::RestorePrompt => "put a message back",
        Action::HidePrompt => "hide a message that was taken back",
        Action::MarkInterrupted => "mark an answer as interrupted",
        Action::CloseAsCompleted => "note that a turn was completed",
        Action::CloseAsInterrupted => "note that a turn was interrupted",
    }
}

/// Reads an age such as `30d`.
fn age_in_seconds(text: &str) -> Result<f64, String> {
    let units = [("d", 86_400.0), ("h", 3_600.0), ("m", 60.0), ("s", 1.0)];
    let found = units.iter().find_map(|(unit, seconds)| {
        Some(text.strip_suffix(unit)?.parse::<u32>().ok().map(f64::from)? * seconds)
    });
    found.ok_or_else(|| "write a number and a unit, such as 30d, 12h or 90m".to_owned())
}
