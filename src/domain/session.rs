//! One stored session row and the words for its state.

use serde::{Deserialize, Serialize};

use super::ids::SessionId;
use super::message::MessageState;
use super::time::Timestamp;

/// Says how a row hangs on its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// Compression created the row; it goes on with its parent's conversation.
    Continuation,
    /// A person branched the row off; it starts a lineage of its own.
    Fork,
}

/// Says what a session does now. `Starting` and `Streaming` are backed by a live task; so is
/// `Waiting`, unless the question is older than the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    #[default]
    Idle,
    Starting,
    Streaming,
    /// The agent asked something and waits for a person.
    Waiting,
    Error,
}

impl Status {
    /// Tells whether a turn is under way or waits for a person.
    pub fn is_running(self) -> bool {
        matches!(self, Self::Starting | Self::Streaming | Self::Waiting)
    }
}

/// The happenings that mark a session unread while nobody looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Milestone {
    AgentEnd,
    RpcError,
    RpcProcessCrashed,
    Question,
}

impl Milestone {
    /// Names what a reader finds at the end of a turn whose answer is in this state.
    pub fn of_end(state: MessageState) -> Self {
        match state {
            MessageState::Waiting => Self::Question,
            _ => Self::AgentEnd,
        }
    }
}

/// One session as lists and headers show it. Wire names with a leading underscore are those of
/// the resolution contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    pub session_id: SessionId,
    pub title: String,
    pub agent: String,
    pub workspace: String,
    pub parent_session_id: Option<SessionId>,
    pub relation: Option<Relation>,
    #[serde(default)]
    pub pre_compression_snapshot: bool,
    pub continuation_session_id: Option<SessionId>,
    pub canonical_visible_session_id: Option<SessionId>,
    #[serde(rename = "_lineage_root_id")]
    pub lineage_root_id: Option<SessionId>,
    #[serde(rename = "_lineage_tip_id")]
    pub lineage_tip_id: Option<SessionId>,
    #[serde(rename = "_compression_segment_count")]
    pub segment_count: u32,
    pub status: Status,
    pub milestone: Option<Milestone>,
    /// Whether a milestone passed that nobody has looked at yet.
    #[serde(default)]
    pub unread: bool,
    pub open_questions: u32,
    /// The last line worth showing in a list, as plain text.
    pub preview: String,
    pub message_count: u32,
    /// How many rows hang on this one that are neither archived nor deleted; those hide it from a
    /// list of leaves.
    #[serde(default)]
    pub child_count: u32,
    /// How many others of these hang on the same parent.
    #[serde(default)]
    pub sibling_count: u32,
    pub pinned: bool,
    pub archived: bool,
    pub created_at: Timestamp,
    pub last_activity_at: Timestamp,
}
