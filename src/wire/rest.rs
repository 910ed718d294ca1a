//! Requests and replies of the REST door and of the app's own server functions.

use serde::{Deserialize, Serialize};

use crate::domain::ids::{BlobId, MessageId, Seq, SessionId, TurnId};
use crate::domain::live::Live;
use crate::domain::message::{Attachment, Message};
use crate::domain::replay::Cursor;
use crate::domain::session::{Session, Status};
use crate::domain::time::Timestamp;
use crate::domain::turn::Step;

/// One page of the session list; `next_cursor` is absent on the last page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionPage {
    pub sessions: Vec<Session>,
    pub next_cursor: Option<String>,
}

/// A conversation as it stands: its row, the newest page of messages, and the number of the last
/// event folded into them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    pub session: Session,
    pub messages: Vec<Message>,
    pub status: Status,
    pub turn_id: Option<TurnId>,
    /// Turns that wait for the one under way to end.
    #[serde(default)]
    pub queued: Vec<TurnId>,
    pub error: Option<String>,
    pub continuation: Option<SessionId>,
    /// Whether older messages exist; they follow with `?before=<first message_id>`.
    pub has_earlier: bool,
    pub as_of: Cursor,
}

impl Transcript {
    pub fn new(session: Session, live: Live, has_earlier: bool, as_of: Cursor) -> Self {
        let Live { status, turn_id, queued, messages, error, continuation } = live;
        Self { session, messages, status, turn_id, queued, error, continuation, has_earlier, as_of }
    }

    /// Gives the state that later events are folded into.
    pub fn into_live(self) -> Live {
        Live {
            status: self.status,
            turn_id: self.turn_id,
            queued: self.queued,
            messages: self.messages,
            error: self.error,
            continuation: self.continuation,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct NewSession {
    #[serde(default)]
    pub agent: Option<String>,
    #[serde(default)]
    pub workspace: Option<String>,
    #[serde(default)]
    pub title: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionPatch {
    #[serde(default)]
    pub title: Option<String>,
    #[serde(default)]
    pub pinned: Option<bool>,
    #[serde(default)]
    pub archived: Option<bool>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StartTurn {
    pub turn_id: TurnId,
    pub session_id: SessionId,
    pub content: String,
    #[serde(default)]
    pub attachments: Vec<Attachment>,
}

/// Bytes that were uploaded, and the name they have from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredBlob {
    pub blob: BlobId,
    pub size: u64,
}

/// How far a submitted turn got.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnReceipt {
    pub turn_id: TurnId,
    pub session_id: SessionId,
    pub message_id: MessageId,
    /// False when the same turn had been accepted before.
    pub accepted: bool,
    /// How far the turn has come.
    pub state: Step,
}

/// The parts of one conversation, oldest first, and the branches that people made of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timeline {
    pub parts: Vec<Session>,
    pub forks: Vec<Session>,
}

/// A conversation found by words of its title or of a message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchHit {
    /// The row that holds the words; it may be an earlier part of a conversation.
    pub session: Session,
    pub message_id: Option<MessageId>,
    pub snippet: Vec<SnippetPiece>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnippetPiece {
    pub text: String,
    /// Whether this piece is what was looked for.
    pub hit: bool,
}

/// What the settings page tells about the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    pub version: String,
    pub data_dir: String,
    pub workspace: String,
    pub agents: Vec<AgentInfo>,
    /// Empty where nobody needs to sign in.
    pub devices: Vec<DeviceInfo>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentInfo {
    pub id: String,
    pub name: String,
    pub description: String,
    /// What has to be done before it can be used, in words for a person.
    #[serde(default)]
    pub missing: Option<String>,
}

/// What a new conversation can begin with, and what the last one began with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewOffer {
    pub agents: Vec<AgentInfo>,
    pub agent: String,
    pub folder: String,
    pub folders: Vec<String>,
}

/// A conversation that an agent remembers by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierConversation {
    /// The agent's own name for it.
    pub agent_session: String,
    pub title: String,
    pub updated_at: Option<Timestamp>,
    /// The row that holds it, where it is here already.
    pub session_id: Option<SessionId>,
}

/// Asks for a conversation that an agent remembers to be brought in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImportRequest {
    pub agent: String,
    /// The folder that it was led in; without one, the agent's usual folder.
    #[serde(default)]
    pub workspace: Option<String>,
    pub agent_session: String,
}

/// A device that is signed in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInfo {
    pub device_id: String,
    pub name: String,
    pub last_seen_at: Timestamp,
    /// Whether it is the one that asks.
    pub current: bool,
}

/// Something about an agent that a person can choose, such as its model or its mode.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentOption {
    pub id: String,
    pub name: String,
    pub value: String,
    pub choices: Vec<AgentChoice>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentChoice {
    pub value: String,
    pub name: String,
    pub description: String,
}

/// A command that an agent takes as a prompt that begins with a slash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlashCommand {
    pub name: String,
    pub description: String,
}

/// What a session's agent tells of itself beside its answers.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AgentFacts {
    /// The agent's own name for the conversation.
    pub agent_session: Option<String>,
    pub options: Vec<AgentOption>,
    pub commands: Vec<SlashCommand>,
}

/// Who sent a message, or wrote a line, that is kept for diagnosis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaker {
    Agent,
    Server,
    /// The agent's standard error.
    Stderr,
}

/// One message to or from an agent, as it was; of a long one, the first part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceLine {
    pub at: Timestamp,
    pub from: Speaker,
    /// How many bytes the whole message had.
    pub size: usize,
    pub text: String,
}

/// One agent that runs now, for diagnosis.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunningSession {
    pub session_id: SessionId,
    pub status: Status,
    pub seq: Seq,
    pub queued: usize,
}
