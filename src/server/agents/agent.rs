//! The boundary between a session and whatever answers it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use futures::future::BoxFuture;
use tokio::sync::mpsc;

use super::remembered::{Remembered, Retold};
use super::trace::Trace;
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::message::{
    Attachment, Message, NoticeLevel, PlanEntry, Question, ToolOutput, ToolState, Usage,
};
use crate::wire::rest::{AgentInfo, AgentOption, SlashCommand};

/// How many happenings an agent may be ahead of its session.
pub const HAPPENINGS_AHEAD: usize = 256;

/// Something that can answer prompts. An adapter translates and does nothing else: numbering,
/// storing and lineage belong to the session.
pub trait Agent: Send + Sync {
    fn info(&self) -> AgentInfo;

    /// Starts or reaches the agent for one session: a new conversation with it, or the one that it
    /// knows by the given name.
    fn open(&self, request: OpenRequest) -> BoxFuture<'_, Result<AgentHandle, AgentError>>;

    /// Makes the command that lets the agent go on after a restart. One that remembers the
    /// conversation needs no more than the answer in words.
    fn resume(&self, resumption: Resumption) -> AgentCommand {
        AgentCommand::Prompt { text: resumption.text, attachments: Vec::new() }
    }

    /// Lists the conversations in a folder that the agent remembers by itself, newest first.
    fn remembered(&self, folder: PathBuf) -> BoxFuture<'_, Result<Vec<Remembered>, AgentError>> {
        drop(folder);
        Box::pin(async { Err(self.remembers_nothing()) })
    }

    /// Tells one of them from its beginning.
    fn retell(
        &self,
        folder: PathBuf,
        agent_session: String,
    ) -> BoxFuture<'_, Result<Vec<Retold>, AgentError>> {
        drop((folder, agent_session));
        Box::pin(async { Err(self.remembers_nothing()) })
    }

    fn remembers_nothing(&self) -> AgentError {
        let name = self.info().name;
        AgentError::Unavailable(format!("{name} keeps no conversations of its own."))
    }

    /// Looks whether the agent is there now, where that takes more than a glance.
    fn look(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {})
    }

    /// Lets go of everything that the agent runs, for the server stops.
    fn close(&self) {}
}

/// The answer to a question whose asker is gone, and what led to it.
#[derive(Debug, Clone)]
pub struct Resumption {
    /// The answer in words.
    pub text: String,
    /// The option taken.
    pub option: String,
    /// The prompt that the question goes back to.
    pub prompt: Message,
    /// What was said to it before each restart, oldest first; the last asks the question.
    pub asked: Vec<Message>,
}

#[derive(Debug, Clone)]
pub struct OpenRequest {
    pub session_id: SessionId,
    pub workspace: PathBuf,
    /// What a person set in earlier runs of the agent, by name.
    pub options: BTreeMap<String, String>,
    /// The agent's own name for the conversation, as an earlier start told it.
    pub agent_session: Option<String>,
    /// What was said before, for an agent that does not remember it.
    pub earlier: Vec<Message>,
    /// Where the messages to and from the agent are kept for diagnosis.
    pub trace: Trace,
}

impl OpenRequest {
    /// Asks for a new conversation of which nothing is known yet.
    pub fn new(session_id: SessionId, workspace: PathBuf) -> Self {
        Self {
            session_id,
            workspace,
            options: BTreeMap::new(),
            agent_session: None,
            earlier: Vec::new(),
            trace: Trace::default(),
        }
    }

    /// Makes sure that a conversation still works where it was allowed to.
    pub fn check_folder(&self) -> Result<(), AgentError> {
        let folder = &self.workspace;
        match folder.canonicalize() {
            Ok(found) if found == *folder && found.is_dir() => Ok(()),
            Ok(_) => Err(AgentError::Unavailable(format!(
                "The folder {} is not what it was when this conversation began.",
                folder.display()
            ))),
            Err(_) => {
                Err(AgentError::Unavailable(format!("The folder {} is gone.", folder.display())))
            }
        }
    }
}

/// Both ends of an open agent. The happenings end when the agent is gone; dropping the commands
/// asks it to leave.
#[derive(Debug)]
pub struct AgentHandle {
    pub commands: mpsc::Sender<AgentCommand>,
    pub happenings: mpsc::Receiver<Happening>,
}

impl AgentHandle {
    /// Makes the queues between a session and its agent: the session's ends, then the agent's.
    pub fn pair() -> (Self, mpsc::Receiver<AgentCommand>, mpsc::Sender<Happening>) {
        let (commands, inbox) = mpsc::channel(HAPPENINGS_AHEAD);
        let (outbox, happenings) = mpsc::channel(HAPPENINGS_AHEAD);
        (Self { commands, happenings }, inbox, outbox)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentCommand {
    Prompt { text: String, attachments: Vec<Attachment> },
    Cancel,
    Answer { request_id: RequestId, option: String },
    Compress,
    SetOption { name: String, value: String },
}

/// What an agent does, in our words but without our numbers. Exactly one `Ended` closes what a
/// `Prompt` or a `Compress` began.
#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    Text(String),
    Thinking(String),
    /// Begins a tool call, or names the one of that id anew.
    ToolStarted {
        tool_id: String,
        name: String,
        target: String,
    },
    /// Shows more of what a tool gave.
    ToolOutput {
        tool_id: String,
        output: ToolOutput,
    },
    /// Shows this instead of everything that the tool gave so far.
    ToolOutputs {
        tool_id: String,
        outputs: Vec<ToolOutput>,
    },
    ToolEnded {
        tool_id: String,
        state: ToolState,
    },
    Plan(Vec<PlanEntry>),
    Question(Question),
    Answered {
        request_id: RequestId,
        option: String,
    },
    Usage(Usage),
    Notice {
        level: NoticeLevel,
        text: String,
    },
    File {
        name: String,
        media_type: String,
        bytes: Vec<u8>,
    },
    Compacted {
        summary: String,
    },
    Failed {
        phase: String,
        message: String,
    },
    Ended(Ending),
    /// The agent's own name for the conversation.
    Session(String),
    /// The agent's proposal for a title.
    Title(String),
    Options(Vec<AgentOption>),
    Commands(Vec<SlashCommand>),
    /// The agent died under way; nothing follows.
    Crashed {
        message: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Completed,
    Cancelled,
    Failed,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    #[error("{0}")]
    Unavailable(String),
}
