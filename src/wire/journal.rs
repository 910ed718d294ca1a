//! One line of a turn journal.
//!
//! The file outlives the program that wrote it, so reading is forgiving where nothing is lost by
//! it (unknown fields, explaining fields of another shape) and exact in everything that decides
//! what a person said and what became of it.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::domain::ids::{MessageId, SessionId, TurnId};
use crate::domain::message::Attachment;
use crate::domain::turn::Step;

/// The shape that this version writes.
pub const VERSION: u32 = 1;

/// The longest line, in bytes, with the newline that ends it.
pub const LONGEST_LINE: usize = 2 << 20;

/// One immutable event of one turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    pub turn_id: TurnId,
    /// Lines that came from elsewhere may leave it to the name of their file.
    pub session_id: Option<SessionId>,
    pub stream_id: Option<String>,
    /// Seconds since 1970.
    pub created_at: f64,
    pub event: TurnEvent,
}

/// A step of a turn with what the journal keeps about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum TurnEvent {
    Submitted(Submission),
    WorkerStarted,
    AssistantStarted,
    Completed {
        #[serde(skip_serializing_if = "Option::is_none")]
        assistant_message_id: Option<MessageId>,
    },
    Interrupted {
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

impl TurnEvent {
    pub fn step(&self) -> Step {
        match self {
            Self::Submitted(_) => Step::Submitted,
            Self::WorkerStarted => Step::WorkerStarted,
            Self::AssistantStarted => Step::AssistantStarted,
            Self::Completed { .. } => Step::Completed,
            Self::Interrupted { .. } => Step::Interrupted,
        }
    }
}

/// What a person sent, enough to put it back into the conversation word for word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Submission {
    pub content: String,
    pub attachments: Vec<Attachment>,
    pub workspace: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_provider: Option<String>,
}

/// A record in the order in which its fields are written.
#[derive(Serialize)]
struct Line<'a> {
    version: u32,
    event: Step,
    turn_id: &'a TurnId,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a SessionId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_id: Option<&'a str>,
    created_at: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    #[serde(flatten)]
    details: &'a TurnEvent,
}

impl Record {
    pub fn new(turn: &TurnId, session: &SessionId, created_at: f64, event: TurnEvent) -> Self {
        Self {
            turn_id: turn.clone(),
            session_id: Some(session.clone()),
            stream_id: None,
            created_at,
            event,
        }
    }

    /// Writes one line with its newline, and refuses what could not be read back.
    pub fn to_line(&self) -> Result<String, Malformed> {
        if !self.created_at.is_finite() {
            return Err(Malformed::Time);
        }
        let step = self.event.step();
        let line = Line {
            version: VERSION,
            event: step,
            turn_id: &self.turn_id,
            session_id: self.session_id.as_ref(),
            stream_id: self.stream_id.as_deref(),
            created_at: self.created_at,
            role: (step == Step::Submitted).then_some("user"),
            details: &self.event,
        };
        let mut text = serde_json::to_string(&line).map_err(|_| Malformed::NotJson)?;
        text.push('\n');
        if text.len() > LONGEST_LINE { Err(Malformed::TooLong) } else { Ok(text) }
    }

    /// Reads one line, with or without its newline.
    pub fn from_line(line: &[u8]) -> Result<Self, Malformed> {
        let mut fields = upgrade(object(line)?)?;
        let step = field(&mut fields, "event", Malformed::Event)?;
        let turn_id = field(&mut fields, "turn_id", Malformed::TurnId)?;
        let session_id = field(&mut fields, "session_id", Malformed::SessionId)?;
        let created_at: f64 = field(&mut fields, "created_at", Malformed::Time)?;
        if !created_at.is_finite() {
            return Err(Malformed::Time);
        }
        let stream_id = optional(&mut fields, "stream_id");
        let event = event(step, &mut fields)?;
        Ok(Self { turn_id, session_id, stream_id, created_at, event })
    }
}

fn object(line: &[u8]) -> Result<Map<String, Value>, Malformed> {
    if line.len() > LONGEST_LINE {
        return Err(Malformed::TooLong);
    }
    let text = str::from_utf8(line).map_err(|_| Malformed::NotText)?;
    serde_json::from_str(text).map_err(|_| match text.contains('\0') {
        // A power loss can leave the length of a write without its bytes.
        true => Malformed::Zeros,
        false => Malformed::NotJson,
    })
}

/// Brings the fields of an older version into today's shape.
///
/// There is one shape so far. A line without a version, or of version 0, has it too: both come
/// from drafts of the format that did not count yet.
fn upgrade(mut fields: Map<String, Value>) -> Result<Map<String, Value>, Malformed> {
    let version: Option<u64> = field(&mut fields, "version", Malformed::Version)?;
    match version {
        None | Some(0 | 1) => Ok(fields),
        Some(newer) => Err(Malformed::NewerVersion(newer)),
    }
}

fn event(step: Step, fields: &mut Map<String, Value>) -> Result<TurnEvent, Malformed> {
    Ok(match step {
        Step::Submitted => TurnEvent::Submitted(submission(fields)?),
        Step::WorkerStarted => TurnEvent::WorkerStarted,
        Step::AssistantStarted => TurnEvent::AssistantStarted,
        Step::Completed => {
            TurnEvent::Completed { assistant_message_id: optional(fields, "assistant_message_id") }
        }
        Step::Interrupted => TurnEvent::Interrupted { reason: optional(fields, "reason") },
    })
}

fn submission(fields: &mut Map<String, Value>) -> Result<Submission, Malformed> {
    let role: Option<String> = field(fields, "role", Malformed::Role)?;
    if role.is_some_and(|role| role != "user") {
        return Err(Malformed::Role);
    }
    let attachments: Option<Vec<Attachment>> =
        field(fields, "attachments", Malformed::Attachments)?;
    Ok(Submission {
        content: field(fields, "content", Malformed::Content)?,
        attachments: attachments.unwrap_or_default(),
        workspace: optional(fields, "workspace").unwrap_or_default(),
        model: optional(fields, "model"),
        model_provider: optional(fields, "model_provider"),
    })
}

/// Takes a field that must have its shape; an absent one is `null`, which an `Option` accepts.
fn field<T: DeserializeOwned>(
    fields: &mut Map<String, Value>,
    name: &str,
    otherwise: Malformed,
) -> Result<T, Malformed> {
    T::deserialize(fields.remove(name).unwrap_or_default()).map_err(|_| otherwise)
}

/// Takes a field that only explains; a bad one must not cost the turn its state.
fn optional<T: DeserializeOwned>(fields: &mut Map<String, Value>, name: &str) -> Option<T> {
    T::deserialize(fields.remove(name)?).ok()
}

/// Says why a line is no record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Malformed {
    TooLong,
    NotText,
    Zeros,
    NotJson,
    Version,
    NewerVersion(u64),
    Event,
    TurnId,
    SessionId,
    OtherSession(SessionId),
    Time,
    Role,
    Content,
    Attachments,
}

impl fmt::Display for Malformed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::TooLong => "it is longer than 2 MiB",
            Self::NotText => "it is not text in UTF-8",
            Self::Zeros => "it holds zero bytes, as a power loss can leave them",
            Self::NotJson => "it is not one whole JSON object",
            Self::Version => "its version is not a whole number",
            Self::NewerVersion(version) => {
                return write!(formatter, "its version {version} is newer than this program");
            }
            Self::Event => "it names no known event",
            Self::TurnId => "its turn id is missing or not valid",
            Self::SessionId => "its session id is not valid",
            Self::OtherSession(session) => {
                return write!(formatter, "it belongs to another session, {session}");
            }
            Self::Time => "its time is not a finite number",
            Self::Role => "it was submitted, but not by the user",
            Self::Content => "it was submitted without its content",
            Self::Attachments => "its attachments are not described as they should be",
        })
    }
}

impl std::error::Error for Malformed {}
