//! The closed set of session events that every agent is translated into.

use serde::{Deserialize, Serialize};

use super::ids::{MessageId, RequestId, SessionId, TurnId};
use super::message::{Message, MessageState, Part, ToolOutput, ToolState, Usage};
use super::session::Milestone;
use super::tagged::tagged;
use super::time::Timestamp;

/// One thing that happened in a session. Parts are addressed by their place in the message, so
/// that an event says all that is needed to apply it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
pub enum Event {
    AgentStart {
        turn_id: TurnId,
        at: Timestamp,
    },
    /// Begins a message, or replaces the one of that id with this state of it.
    MessageStart {
        message: Message,
    },
    /// Takes a prompt back that was not taken up yet.
    MessageRemoved {
        message_id: MessageId,
    },
    MessageDelta {
        message_id: MessageId,
        part: usize,
        kind: DeltaKind,
        text: String,
    },
    MessageEnd {
        message_id: MessageId,
        state: MessageState,
        at: Timestamp,
    },
    ToolStart {
        message_id: MessageId,
        part: usize,
        tool: Part,
    },
    ToolUpdate {
        message_id: MessageId,
        tool_id: String,
        output: ToolOutput,
    },
    ToolEnd {
        message_id: MessageId,
        tool_id: String,
        state: ToolState,
        at: Timestamp,
    },
    Plan {
        message_id: MessageId,
        part: usize,
        plan: Part,
    },
    Question {
        message_id: MessageId,
        part: usize,
        question: Part,
    },
    Answered {
        message_id: MessageId,
        request_id: RequestId,
        option: String,
    },
    Usage {
        message_id: MessageId,
        usage: Usage,
    },
    /// Puts a notice or a file that the agent made into the message.
    Notice {
        message_id: MessageId,
        part: usize,
        notice: Part,
    },
    Compressed {
        snapshot: SessionId,
        continuation: SessionId,
    },
    AgentEnd {
        turn_id: TurnId,
        outcome: Outcome,
        at: Timestamp,
    },
    RpcError {
        phase: String,
        message: String,
    },
    RpcProcessCrashed {
        message: String,
    },
}

tagged!(Event);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeltaKind {
    Text,
    Thinking,
}

/// Says how a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Completed,
    Cancelled,
    Failed,
    Crashed,
    /// The server stopped while the turn was under way.
    Interrupted,
}

impl Outcome {
    /// Gives the state in which such an end leaves an answer that was under way.
    pub fn state_of(self, answer: &Message) -> MessageState {
        match self {
            Self::Completed => MessageState::Complete,
            Self::Cancelled => MessageState::Cancelled,
            Self::Failed => MessageState::Failed,
            Self::Crashed => MessageState::Crashed,
            Self::Interrupted if answer.open_questions().next().is_some() => MessageState::Waiting,
            Self::Interrupted => MessageState::Interrupted,
        }
    }
}

impl Event {
    /// Names the milestone that the event is, if it is one.
    pub fn milestone(&self) -> Option<Milestone> {
        match self {
            Self::AgentEnd { .. } => Some(Milestone::AgentEnd),
            Self::RpcError { .. } => Some(Milestone::RpcError),
            Self::RpcProcessCrashed { .. } => Some(Milestone::RpcProcessCrashed),
            Self::Question { .. } => Some(Milestone::Question),
            _ => None,
        }
    }
}
