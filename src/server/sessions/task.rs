//! One loop per session. It alone owns the session's agent, numbers and live state, so nothing
//! about them is ever decided in two places.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{broadcast, watch};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::Registry;
use super::board::Board;
use super::desk::Desk;
use super::inbox::{Feed, Inbox, Reply, TaskCommand, Turn};
use super::publish::{Pending, Saving, until_saved};
use super::ring::{Numbered, Replay, Ring};
use super::task_table::UnendedTurns;
use crate::domain::event::Outcome;
use crate::domain::ids::{Epoch, MessageId, Seq, SessionId, TurnId};
use crate::domain::live::Live;
use crate::domain::message::Message;
use crate::domain::replay::Cursor;
use crate::domain::session::{Milestone, Session, Status};
use crate::domain::turn::Step;
use crate::server::agents::agent::{Agent, AgentCommand, AgentError, AgentHandle, Happening};
use crate::server::blobs::Blobs;
use crate::server::lock::lock;
use crate::server::store::{Store, StoreError};
use crate::server::turns::log::TurnLog;
use crate::wire::error::{Failure, FailureCode};
use crate::wire::rest::Transcript;

/// A task without a turn and without readers leaves after this long.
const IDLE_BEFORE_RETIRING: Duration = Duration::from_secs(600);

/// What the rest of the server may know of a task without asking it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskMeta {
    pub status: Status,
    pub seq: Seq,
    pub queued: usize,
    pub open_questions: u32,
    pub milestone: Option<Milestone>,
}

impl TaskMeta {
    /// Takes what is stored, and the last number that was given out.
    pub fn at_start(session: &Session, seq: Seq) -> Self {
        let (status, open_questions) = (session.status, session.open_questions);
        Self { status, seq, open_questions, ..Self::default() }
    }

    /// Puts what runs over what is stored.
    pub fn show_on(&self, session: &mut Session) {
        if self.status.is_running() {
            session.status = self.status;
        }
        session.open_questions = self.open_questions;
        session.milestone = self.milestone.or(session.milestone);
    }
}

pub(super) enum AgentState {
    Closed,
    Opening(AbortOnDropHandle<Result<AgentHandle, AgentError>>),
    Open(AgentHandle),
}

/// The turn under way.
pub(super) struct Running {
    pub turn_id: TurnId,
    pub answer_id: MessageId,
    pub command: AgentCommand,
    /// Whose journal tells of the turn, if one does, and what it told last.
    pub journal: Option<SessionId>,
    pub step: Step,
    /// When a person pressed Stop, the moment by which the agent must have stopped.
    pub stop_by: Option<Instant>,
}

/// What a task is made of, apart from its state.
#[derive(Clone)]
pub struct Surroundings {
    pub registry: Registry,
    pub board: Board,
    pub desk: Desk,
    pub store: Store,
    pub blobs: Blobs,
    pub turn_log: TurnLog,
    pub unended: UnendedTurns,
    pub epoch: Epoch,
}

pub struct SessionTask {
    pub(super) around: Surroundings,
    pub(super) session_id: SessionId,
    pub(super) workspace: PathBuf,
    pub(super) agent: Arc<dyn Agent>,
    pub(super) agent_state: AgentState,
    pub(super) roused_by: Vec<Reply<Result<(), Failure>>>,
    pub(super) queue: VecDeque<Turn>,
    pub(super) running: Option<Running>,
    pub(super) live: Live,
    pub(super) ring: Ring,
    pub(super) pending: Pending,
    pub(super) saving: Option<Saving>,
    pub(super) events: broadcast::Sender<Arc<Numbered>>,
    pub(super) meta: watch::Sender<TaskMeta>,
    inbox: Inbox,
}

/// What woke the loop.
enum Wake {
    Start(Box<Turn>),
    Command(Option<TaskCommand>),
    Opened(Result<AgentHandle, AgentError>),
    Happening(Option<Happening>),
    Saved(bool),
    Due,
}

impl SessionTask {
    pub fn new(
        around: Surroundings,
        session: &Session,
        kept: Option<Message>,
        agent: Arc<dyn Agent>,
        latest: Seq,
        inbox: Inbox,
        meta: watch::Sender<TaskMeta>,
    ) -> Self {
        Self {
            around,
            session_id: session.session_id.clone(),
            workspace: PathBuf::from(&session.workspace),
            agent,
            agent_state: AgentState::Closed,
            roused_by: Vec::new(),
            queue: VecDeque::new(),
            running: None,
            live: Live {
                status: session.status,
                messages: kept.into_iter().collect(),
                ..Live::default()
            },
            ring: Ring::new(latest),
            pending: Pending::default(),
            saving: None,
            events: broadcast::Sender::new(1024),
            meta,
            inbox,
        }
    }

    /// Serves the session until nobody needs it any more.
    pub async fn run(mut self) {
        loop {
            let due = self.next_due();
            let wake = tokio::select! {
                // Turns first: a command about a turn is sent after its acknowledgement.
                biased;
                Some(turn) = self.inbox.starts.recv() => Wake::Start(turn),
                command = self.inbox.commands.recv() => Wake::Command(command),
                wake = from_agent(&mut self.agent_state) => wake,
                saved = until_saved(&mut self.saving) => Wake::Saved(saved),
                () = tokio::time::sleep_until(due) => Wake::Due,
            };
            match wake {
                Wake::Command(Some(TaskCommand::Shutdown(reply))) => {
                    self.end_turn(Outcome::Interrupted).await;
                    let _ = reply.send(());
                    return;
                }
                Wake::Start(turn) => self.enqueue(*turn).await,
                Wake::Command(Some(command)) => self.obey(command).await,
                Wake::Command(None) => return,
                Wake::Opened(opened) => self.agent_opened(opened).await,
                Wake::Happening(Some(happening)) => self.agent_did(happening).await,
                Wake::Happening(None) => self.agent_gone().await,
                Wake::Saved(saved) => self.note_saved(saved).await,
                Wake::Due => {
                    self.do_due().await;
                    if self.is_idle()
                        && self.around.registry.retire(
                            &self.session_id,
                            self.ring.latest(),
                            &self.inbox,
                        )
                    {
                        return;
                    }
                }
            }
        }
    }

    async fn obey(&mut self, command: TaskCommand) {
        match command {
            TaskCommand::Cancel(reply) => {
                let _ = reply.send(self.cancel().await);
            }
            TaskCommand::Withdraw { turn_id, reply } => {
                let _ = reply.send(self.withdraw(&turn_id).await);
            }
            TaskCommand::Answer { request_id, option, reply } => {
                let _ = reply.send(self.answer(request_id, option));
            }
            TaskCommand::Compress(reply) => {
                let _ = reply.send(self.compress().await);
            }
            TaskCommand::Rouse(reply) => self.rouse(reply).await,
            TaskCommand::SetOption { name, value, reply } => {
                let _ = reply.send(self.set_option(name, value).await);
            }
            TaskCommand::Subscribe { cursor, reply } => {
                let _ = reply.send(self.feed(cursor.as_ref()));
            }
            TaskCommand::Transcript { limit, reply } => {
                let _ = reply.send(self.transcript(limit).await);
            }
            TaskCommand::Shutdown(reply) => {
                let _ = reply.send(());
            }
        }
    }

    /// Takes note that a turn has ended, whatever the journal could be told of its end.
    pub(super) fn forget_turn(&self, turn_id: &TurnId) {
        self.around.turn_log.ended(turn_id);
        lock(&self.around.unended).remove(turn_id);
    }

    pub(super) fn command_agent(&mut self, command: AgentCommand) -> Result<(), Failure> {
        let AgentState::Open(handle) = &self.agent_state else {
            return Err(Failure::new(FailureCode::NothingRuns, "The agent is not running."));
        };
        handle.commands.try_send(command).map_err(|_| {
            Failure::new(FailureCode::AgentUnavailable, "The agent does not take commands.")
        })
    }

    /// Hands a reader its missed events and its place in the stream in one step, so that nothing
    /// falls between them.
    fn feed(&self, cursor: Option<&Cursor>) -> Feed {
        let replay = match cursor {
            None => Replay::Missed(Vec::new()),
            Some(cursor) if cursor.epoch == self.around.epoch => self.ring.since(cursor.seq),
            Some(_) => Replay::Gap { oldest: self.ring.latest(), latest: self.ring.latest() },
        };
        Feed { replay, events: self.events.subscribe() }
    }

    /// Reads the newest page inside the loop, where no event can pass between page and number.
    async fn transcript(&self, limit: u32) -> Result<Option<Transcript>, StoreError> {
        let Some(mut session) = self.around.store.session(&self.session_id).await? else {
            return Ok(None);
        };
        self.meta.borrow().show_on(&mut session);
        let page = self.around.store.message_page(&self.session_id, None, limit).await?;
        let mut live = Live { messages: page.messages, ..self.live.clone() };
        for message in &self.live.messages {
            match live.messages.iter_mut().find(|known| known.message_id == message.message_id) {
                Some(known) => known.clone_from(message),
                None => live.messages.push(message.clone()),
            }
        }
        let as_of = Cursor { epoch: self.around.epoch.clone(), seq: self.ring.latest() };
        Ok(Some(Transcript::new(session, live, page.has_earlier, as_of)))
    }

    fn is_idle(&self) -> bool {
        self.running.is_none() && self.queue.is_empty() && self.events.receiver_count() == 0
    }

    fn next_due(&self) -> Instant {
        let idle = Instant::now() + IDLE_BEFORE_RETIRING;
        let stop_by = self.running.as_ref().and_then(|running| running.stop_by);
        [self.pending.due(), stop_by].into_iter().flatten().fold(idle, Instant::min)
    }
}

async fn from_agent(state: &mut AgentState) -> Wake {
    match state {
        AgentState::Closed => std::future::pending().await,
        AgentState::Opening(opening) => Wake::Opened(opening.await.unwrap_or_else(|_| {
            Err(AgentError::Unavailable("The agent could not be started.".to_owned()))
        })),
        AgentState::Open(handle) => Wake::Happening(handle.happenings.recv().await),
    }
}
