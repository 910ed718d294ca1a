//! A message and its typed parts.

use serde::{Deserialize, Serialize};

use super::ids::{BlobId, MessageId, RequestId, TurnId};
use super::tagged::tagged;
use super::time::Timestamp;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    User,
    Assistant,
    /// The server itself: dividers, interruptions, notices outside a turn.
    System,
}

/// Says how far a message got; all but the first two are unfinished and look so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MessageState {
    #[default]
    Complete,
    Streaming,
    /// A person pressed Stop.
    Cancelled,
    /// The agent reported an error.
    Failed,
    /// The agent's process died.
    Crashed,
    /// The server stopped while the answer was under way.
    Interrupted,
    /// The server stopped while the agent waited for a person, whose answer still counts.
    Waiting,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub message_id: MessageId,
    pub turn_id: Option<TurnId>,
    pub role: Role,
    pub state: MessageState,
    pub parts: Vec<Part>,
    pub usage: Option<Usage>,
    pub created_at: Timestamp,
    pub ended_at: Option<Timestamp>,
    /// Whether recovery wrote the message, from the journal, after a crash.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recovered: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
pub enum Part {
    Text { text: String },
    Thinking { text: String },
    Tool(ToolCall),
    Attachment(Attachment),
    Plan { entries: Vec<PlanEntry> },
    Question(Question),
    Notice { level: NoticeLevel, text: String },
}

tagged!(Part);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    pub blob: BlobId,
    pub name: String,
    pub media_type: String,
    pub size: u64,
}

impl Attachment {
    pub fn is_image(&self) -> bool {
        self.media_type.starts_with("image/")
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    Info,
    Warning,
    Error,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    pub tool_id: String,
    pub name: String,
    /// What the tool works on, in one line: a path, a command, a pattern.
    pub target: String,
    pub state: ToolState,
    pub output: Vec<ToolOutput>,
    pub started_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolState {
    Running,
    Done,
    Failed,
    /// The person said no, or the turn was stopped before the tool ended.
    Skipped,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(remote = "Self", rename_all = "snake_case")]
pub enum ToolOutput {
    Text { text: String },
    Diff { path: String, old: String, new: String },
}

tagged!(ToolOutput);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanEntry {
    pub text: String,
    pub state: PlanState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanState {
    Pending,
    Active,
    Done,
}

/// A permission or a choice that only a person can give.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub request_id: RequestId,
    pub title: String,
    pub detail: String,
    pub options: Vec<Choice>,
    /// The option taken; a question that was passed over has none.
    pub answer: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    pub option: String,
    pub label: String,
    pub tone: ChoiceTone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChoiceTone {
    Allow,
    Reject,
    Neutral,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Usage {
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// How much of the agent's context is taken, and how much there is, when the agent says so.
    pub context_tokens: Option<u64>,
    pub context_limit: Option<u64>,
    pub cost_usd: Option<f64>,
}

impl Message {
    /// Joins what the message says, without thinking, tools and notices.
    pub fn text(&self) -> String {
        let mut joined = String::new();
        for part in &self.parts {
            if let Part::Text { text } = part {
                if !joined.is_empty() {
                    joined.push_str("\n\n");
                }
                joined.push_str(text);
            }
        }
        joined
    }

    /// Lists the questions that wait for a person; one whose message ended waits no longer.
    pub fn open_questions(&self) -> impl Iterator<Item = &Question> {
        let open = matches!(self.state, MessageState::Streaming | MessageState::Waiting);
        self.parts.iter().filter_map(move |part| match part {
            Part::Question(question) if open && question.answer.is_none() => Some(question),
            _ => None,
        })
    }

    /// Ends the message, and with it the tools that are left running, for nothing runs any more.
    pub fn end(&mut self, state: MessageState, at: Timestamp) {
        self.state = state;
        self.ended_at = Some(at);
        for part in &mut self.parts {
            if let Part::Tool(tool) = part
                && tool.state == ToolState::Running
            {
                tool.state = ToolState::Skipped;
                tool.ended_at = Some(at);
            }
        }
    }

    pub(super) fn tool_mut(&mut self, tool_id: &str) -> Option<(usize, &mut ToolCall)> {
        self.parts.iter_mut().enumerate().find_map(|(place, part)| match part {
            Part::Tool(tool) if tool.tool_id == tool_id => Some((place, tool)),
            _ => None,
        })
    }

    pub fn question_mut(&mut self, id: &RequestId) -> Option<(usize, &mut Question)> {
        self.parts.iter_mut().enumerate().find_map(|(place, part)| match part {
            Part::Question(question) if question.request_id == *id => Some((place, question)),
            _ => None,
        })
    }
}
