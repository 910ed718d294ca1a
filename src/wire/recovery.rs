//! What the audit of the turn journal tells, and what repair does.

use serde::{Deserialize, Serialize};

use crate::domain::ids::{SessionId, TurnId};
use crate::domain::message::Attachment;
use crate::domain::turn::Step;

/// Everything that the audit looked at and found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AuditReport {
    pub journals: usize,
    pub turns: usize,
    /// Turns that run now, which are no finding.
    pub under_way: usize,
    pub findings: Vec<Finding>,
}

impl AuditReport {
    /// Tells whether nothing needs anybody's attention.
    pub fn is_sound(&self) -> bool {
        self.findings.iter().all(|finding| finding.severity == Severity::Ok)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub kind: FindingKind,
    pub severity: Severity,
    /// One sentence for a person.
    pub message: String,
    /// The file that it was found in.
    pub file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<TurnId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// What repair would do about it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Action>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FindingKind {
    #[serde(rename = "turn_journal_pending_turn")]
    PendingTurn,
    #[serde(rename = "turn_journal_interrupted_turn")]
    InterruptedTurn,
    #[serde(rename = "turn_journal_malformed_event")]
    MalformedEvent,
    #[serde(rename = "turn_journal_illegal_transition")]
    IllegalTransition,
    #[serde(rename = "turn_journal_orphan_file")]
    OrphanFile,
    #[serde(rename = "turn_journal_missing_blob")]
    MissingBlob,
    #[serde(rename = "turn_journal_unreadable_file")]
    UnreadableFile,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Warn,
    /// Repair can put it right.
    Repairable,
    /// A person has to look at it.
    Manual,
}

/// What repair can do about a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Put the message back into the conversation, as it was sent.
    RestorePrompt,
    /// Say in the conversation that there is no whole answer.
    MarkInterrupted,
    /// Hide a message that its sender took back.
    HidePrompt,
    CloseAsCompleted,
    CloseAsInterrupted,
}

/// What repair did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct RepairReport {
    /// Whether it was done, or is only what would be.
    pub applied: bool,
    pub repairs: Vec<Repair>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repair {
    pub session_id: SessionId,
    pub turn_id: TurnId,
    pub actions: Vec<Action>,
}

/// One session's journal, for diagnosis; what files hold is left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JournalView {
    pub session_id: SessionId,
    pub turns: Vec<TurnView>,
    pub problems: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnView {
    pub turn_id: TurnId,
    pub state: Step,
    /// Seconds since 1970.
    pub submitted_at: f64,
    pub last_at: f64,
    pub reason: Option<String>,
    pub content: Option<String>,
    pub attachments: Vec<Attachment>,
}

/// The audit as the Recovery page shows it: sentences, and nothing that a program would look for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecoveryPage {
    pub summary: Vec<String>,
    pub findings: Vec<ShownFinding>,
    pub repairable: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownFinding {
    pub message: String,
    pub file: String,
    pub session_id: Option<SessionId>,
    pub needs_a_person: bool,
}

impl From<AuditReport> for RecoveryPage {
    fn from(report: AuditReport) -> Self {
        let summary = summary_of(&report);
        let repairable = report.findings.iter().any(|finding| !finding.actions.is_empty());
        let shown = |finding: Finding| ShownFinding {
            needs_a_person: finding.severity == Severity::Manual,
            message: finding.message,
            file: finding.file,
            session_id: finding.session_id,
        };
        let findings =
            report.findings.into_iter().filter(|it| it.severity != Severity::Ok).map(shown);
        Self { summary, findings: findings.collect(), repairable }
    }
}

fn summary_of(report: &AuditReport) -> Vec<String> {
    let interrupted = report.findings.iter().filter(|it| it.severity == Severity::Ok).count();
    let mut lines = Vec::new();
    if report.is_sound() {
        lines.push("All is in order.".to_owned());
    }
    lines.push(counted(report.turns, "message was", "messages were", "looked at."));
    if report.under_way > 0 {
        lines.push(counted(report.under_way, "is", "are", "being answered right now."));
    }
    if interrupted > 0 {
        let rest = "interrupted, and marked as such in the conversation.";
        lines.push(counted(interrupted, "answer was", "answers were", rest));
    }
    lines
}

fn counted(count: usize, one: &str, many: &str, rest: &str) -> String {
    let verb = if count == 1 { one } else { many };
    format!("{count} {verb} {rest}")
}
