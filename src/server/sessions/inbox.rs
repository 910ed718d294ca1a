//! What reaches a session's task, and what it answers with.

use std::sync::Arc;

use tokio::sync::{broadcast, mpsc, oneshot};

use super::ring::{Numbered, Replay};
use crate::domain::ids::{RequestId, SessionId, TurnId};
use crate::domain::message::{Attachment, Message};
use crate::domain::replay::Cursor;
use crate::server::store::StoreError;
use crate::server::turns::answer::QuestionAnswer;
use crate::wire::error::Failure;
use crate::wire::rest::Transcript;

/// A prompt that is stored already and waits for its agent.
#[derive(Debug, Clone)]
pub struct Turn {
    pub turn_id: TurnId,
    /// Whose journal tells of the turn; compression may move the turn itself on.
    pub submitted_to: SessionId,
    pub prompt: Message,
    pub attachments: Vec<Attachment>,
    /// The answer that the turn is, if it answers a question kept from before a restart.
    pub answer: Option<QuestionAnswer>,
}

pub type Reply<T> = oneshot::Sender<T>;

/// What others ask of a session.
#[derive(Debug)]
pub enum TaskCommand {
    Cancel(Reply<Result<(), Failure>>),
    Withdraw { turn_id: TurnId, reply: Reply<Result<(), Failure>> },
    Answer { request_id: RequestId, option: String, reply: Reply<Result<(), Failure>> },
    Compress(Reply<Result<(), Failure>>),
    Rouse(Reply<Result<(), Failure>>),
    SetOption { name: String, value: String, reply: Reply<Result<(), Failure>> },
    Subscribe { cursor: Option<Cursor>, reply: Reply<Feed> },
    Transcript { limit: u32, reply: Reply<Result<Option<Transcript>, StoreError>> },
    Shutdown(Reply<()>),
}

/// What reaches a task.
pub struct Inbox {
    pub commands: mpsc::Receiver<TaskCommand>,
    pub starts: mpsc::UnboundedReceiver<Box<Turn>>,
}

impl Inbox {
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty() && self.starts.is_empty()
    }
}

/// What a reader gets: what it missed, then everything that follows.
#[derive(Debug)]
pub struct Feed {
    pub replay: Replay,
    pub events: broadcast::Receiver<Arc<Numbered>>,
}
