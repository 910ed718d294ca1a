//! Tells what is not as it should be between the journal, the store and the blobs, and repairs what
//! can be repaired without guessing.

use std::collections::HashSet;

use super::log::TurnLog;
use super::reconcile::{Plan, plan};
use super::recovery::{RecoveryError, close};
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::turn::Step;
use crate::server::blobs::Blobs;
use crate::server::journal::{Load, Problem, SessionJournal, Turn, file_name};
use crate::server::store::Store;
use crate::wire::recovery::{
    Action, AuditReport, Finding, FindingKind, JournalView, Repair, RepairReport, Severity,
    TurnView,
};

/// The reason that the journal gives for turns which repair ends.
const REASON: &str = "repair";

/// What an audit looks at.
pub struct Auditor<'a> {
    pub store: &'a Store,
    pub log: &'a TurnLog,
    pub blobs: &'a Blobs,
    pub running: RunningTurns,
}

/// Which unended turns are running and must be left alone.
pub enum RunningTurns {
    /// Those of this server.
    Known(HashSet<TurnId>),
    /// All of them: another process has the data directory, and knows.
    AllUnended,
}

impl RunningTurns {
    fn contains(&self, turn: &Turn) -> bool {
        match self {
            Self::Known(turns) => turns.contains(&turn.turn_id),
            Self::AllUnended => !turn.state.is_terminal(),
        }
    }
}

impl Auditor<'_> {
    /// Looks at every journal. One that cannot be read is a finding and hides no other.
    pub async fn audit(&self) -> Result<AuditReport, RecoveryError> {
        let listing = self.log.blocking(|journal| journal.list()).await?;
        let mut report = AuditReport { journals: listing.sessions.len(), ..Default::default() };
        for name in listing.unknown_files {
            let message = "This file in the journal's folder belongs to no conversation.";
            report.findings.push(finding(FindingKind::OrphanFile, Severity::Warn, &name, message));
        }
        for session in listing.sessions {
            match self.read(&session).await {
                Ok(Some(journal)) => self.look_at(journal, &mut report).await?,
                Ok(None) => {}
                Err(error) => {
                    let message = format!("This journal cannot be read. {error}");
                    let name = file_name(&session);
                    let kind = FindingKind::UnreadableFile;
                    report.findings.push(finding(kind, Severity::Manual, &name, &message));
                }
            }
        }
        Ok(report)
    }

    /// Puts right what can be, or tells what would be done.
    pub async fn repair(&self, apply: bool) -> Result<RepairReport, RecoveryError> {
        let mut plans = self.plans().await?;
        let mut report = RepairReport { applied: apply, repairs: Vec::new() };
        for plan in &mut plans {
            report.repairs.push(Repair {
                session_id: plan.session_id.clone(),
                turn_id: plan.turn_id.clone(),
                actions: plan.actions.clone(),
            });
            if apply {
                plan.repair_store(self.store).await?;
            }
        }
        if apply {
            self.store.flush_wal().await?;
            close(self.log, &plans, REASON).await?;
        }
        Ok(report)
    }

    /// Shows one session's journal; `None` when it has none.
    pub async fn view(&self, session: &SessionId) -> Result<Option<JournalView>, RecoveryError> {
        Ok(self.read(session).await?.map(|journal| JournalView {
            session_id: journal.session_id,
            turns: journal.turns.into_iter().map(view_of).collect(),
            problems: journal.problems.iter().map(ToString::to_string).collect(),
        }))
    }

    async fn read(&self, session: &SessionId) -> Result<Option<SessionJournal>, RecoveryError> {
        let session = session.clone();
        Ok(self.log.blocking(move |journal| journal.read(&session, Load::Everything)).await?)
    }

    async fn plans(&self) -> Result<Vec<Plan>, RecoveryError> {
        let mut plans = Vec::new();
        for session in self.log.blocking(|journal| journal.list()).await?.sessions {
            let Ok(Some(journal)) = self.read(&session).await else { continue };
            if !self.store.has_session(&session).await? {
                continue;
            }
            for turn in journal.turns.into_iter().filter(|turn| !self.running.contains(turn)) {
                let plan = plan(self.store, &session, turn).await?;
                if !plan.actions.is_empty() {
                    plans.push(plan);
                }
            }
        }
        Ok(plans)
    }

    async fn look_at(
        &self,
        journal: SessionJournal,
        report: &mut AuditReport,
    ) -> Result<(), RecoveryError> {
        let SessionJournal { session_id, turns, problems } = journal;
        let file = file_name(&session_id);
        report.turns += turns.len();
        let mut findings: Vec<_> =
            problems.iter().map(|problem| of_problem(&file, problem)).collect();
        let known = self.store.has_session(&session_id).await?;
        if !known {
            let message = "No conversation is stored for this journal.";
            let kind = FindingKind::OrphanFile;
            findings.push(finding(kind, Severity::Manual, &file, message));
        }
        for turn in turns {
            findings.extend(self.missing_blobs(&file, &turn).await);
            if self.running.contains(&turn) {
                report.under_way += 1;
            } else if known {
                let (state, line) = (turn.state, turn.line);
                let plan = plan(self.store, &session_id, turn).await?;
                findings.extend(of_plan(&file, state, line, plan));
            }
        }
        report.findings.extend(
            findings
                .into_iter()
                .map(|finding| Finding { session_id: Some(session_id.clone()), ..finding }),
        );
        Ok(())
    }

    async fn missing_blobs(&self, file: &str, turn: &Turn) -> Vec<Finding> {
        let mut findings = Vec::new();
        let attachments = turn.submission.iter().flat_map(|submission| &submission.attachments);
        for attachment in attachments {
            // A disk that does not answer shows in the journal's own errors.
            if !self.blobs.contains(&attachment.blob).await.unwrap_or(true) {
                let message = format!("The file {} of a message is missing.", attachment.name);
                let kind = FindingKind::MissingBlob;
                findings.push(Finding {
                    turn_id: Some(turn.turn_id.clone()),
                    line: Some(turn.line),
                    ..finding(kind, Severity::Manual, file, &message)
                });
            }
        }
        findings
    }
}

fn of_plan(file: &str, state: Step, line: usize, plan: Plan) -> Option<Finding> {
    let (kind, severity, message) = match state {
        Step::Completed => return None,
        Step::Interrupted if plan.actions.contains(&Action::HidePrompt) => (
            FindingKind::InterruptedTurn,
            Severity::Repairable,
            "A message was taken back, and its conversation still shows it.",
        ),
        Step::Interrupted if plan.actions.is_empty() => (
            FindingKind::InterruptedTurn,
            Severity::Ok,
            "A message was interrupted, and its conversation says so.",
        ),
        Step::Interrupted => (
            FindingKind::InterruptedTurn,
            Severity::Warn,
            "A message was interrupted, and its conversation does not say so.",
        ),
        _ if plan.actions.contains(&Action::RestorePrompt) => (
            FindingKind::PendingTurn,
            Severity::Repairable,
            "A message was sent and is missing from its conversation.",
        ),
        _ => (
            FindingKind::PendingTurn,
            Severity::Repairable,
            "A message was sent and its turn was never ended.",
        ),
    };
    Some(Finding {
        turn_id: Some(plan.turn_id),
        line: Some(line),
        actions: plan.actions,
        ..finding(kind, severity, file, message)
    })
}

fn of_problem(file: &str, problem: &Problem) -> Finding {
    let (kind, severity, line, turn_id) = match problem {
        Problem::Malformed { line, torn_tail: true, .. } => {
            (FindingKind::MalformedEvent, Severity::Warn, *line, None)
        }
        Problem::Malformed { line, .. } => {
            (FindingKind::MalformedEvent, Severity::Manual, *line, None)
        }
        Problem::Illegal { line, turn_id, .. } => {
            (FindingKind::IllegalTransition, Severity::Manual, *line, Some(turn_id.clone()))
        }
        Problem::Edited { line, .. } => (FindingKind::MalformedEvent, Severity::Warn, *line, None),
    };
    Finding { line: Some(line), turn_id, ..finding(kind, severity, file, &problem.to_string()) }
}

fn finding(kind: FindingKind, severity: Severity, file: &str, message: &str) -> Finding {
    Finding {
        kind,
        severity,
        message: message.to_owned(),
        file: file.to_owned(),
        session_id: None,
        turn_id: None,
        line: None,
        actions: Vec::new(),
    }
}

fn view_of(turn: Turn) -> TurnView {
    let (content, attachments) = match turn.submission {
        Some(submission) => (Some(submission.content), submission.attachments),
        None => (None, Vec::new()),
    };
    TurnView {
        turn_id: turn.turn_id,
        state: turn.state,
        submitted_at: turn.submitted_at,
        last_at: turn.last_at,
        reason: turn.reason,
        content,
        attachments,
    }
}
