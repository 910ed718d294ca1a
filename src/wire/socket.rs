//! Frames of the WebSocket at `/ws`: JSON text, tagged by `type`.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::error::{Failure, FailureCode};
use super::list::ViewCounts;
use crate::domain::ids::{CommandId, Epoch, RequestId, Seq, SessionId, TurnId};
use crate::domain::message::Attachment;
use crate::domain::replay::Cursor;
use crate::domain::session::{Milestone, Session, Status};
use crate::domain::tagged::tagged;
use crate::domain::time::Timestamp;

/// The version of the protocol that both sides must speak.
pub const PROTOCOL: u32 = 1;

/// The largest frame a browser may send, in bytes.
pub const LARGEST_FRAME: usize = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Every event.
    Full,
    /// Only what a background row needs.
    Meta,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscription {
    pub session_id: SessionId,
    pub level: Level,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<Cursor>,
}

/// What the browser sends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
pub enum ClientFrame {
    Hello { protocol: u32, subscriptions: Vec<Subscription> },
    Subscribe(Subscription),
    Unsubscribe { session_id: SessionId },
    RpcCommand { session_id: SessionId, command_id: CommandId, command: Command },
    RpcPing { ts: f64 },
}

tagged!(ClientFrame);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
pub enum Command {
    Prompt {
        turn_id: TurnId,
        content: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
    },
    Cancel,
    /// Takes a prompt back that waits for an earlier one.
    Withdraw {
        turn_id: TurnId,
    },
    GetState,
    Answer {
        request_id: RequestId,
        option: String,
    },
    Compress,
    /// The reader has seen everything up to now.
    Seen,
    SetOption {
        name: String,
        value: String,
    },
}

tagged!(Command);

/// What the server sends.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
pub enum ServerFrame {
    Welcome {
        protocol: u32,
        epoch: Epoch,
        ping_every_ms: u32,
    },
    RpcEvent {
        session_id: SessionId,
        epoch: Epoch,
        seq: Seq,
        /// An [`Event`](crate::domain::event::Event), left as text for whom it concerns.
        event: Box<RawValue>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        replay: bool,
    },
    SessionMeta(Meta),
    SessionsChanged {
        changed: Vec<Session>,
        removed: Vec<SessionId>,
        /// How many rows each view has, where that changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        counts: Option<ViewCounts>,
    },
    RpcResponse {
        session_id: SessionId,
        command_id: CommandId,
        ok: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Box<RawValue>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<Failure>,
    },
    RpcReplayGap {
        session_id: SessionId,
        epoch: Epoch,
        oldest_seq: Seq,
        latest_seq: Seq,
    },
    RpcSessionNotFound {
        session_id: SessionId,
    },
    RpcPong {
        ts: f64,
    },
    Error {
        code: FailureCode,
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session_id: Option<SessionId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command_id: Option<CommandId>,
    },
}

tagged!(ServerFrame);

/// What a background row needs, and nothing more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Meta {
    pub session_id: SessionId,
    pub seq: Seq,
    pub status: Status,
    pub milestone: Option<Milestone>,
    pub title: String,
    pub last_activity_at: Timestamp,
    pub open_questions: u32,
}
