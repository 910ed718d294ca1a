//! Finds the task of a session, and starts it at the first need.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard};

use futures::FutureExt;
use tokio::sync::{mpsc, oneshot, watch};

use super::board::Board;
use super::chronicle::Happened;
use super::desk::Desk;
use super::error::SessionError;
use super::inbox::{Feed, Inbox, TaskCommand, Turn};
use super::task::{SessionTask, Surroundings, TaskMeta};
use super::task_table::{HandOver, TaskHandle, TaskTable, UnendedTurns};
use crate::domain::ids::{Epoch, Seq, SessionId};
use crate::domain::live::Live;
use crate::domain::message::Message;
use crate::domain::replay::Cursor;
use crate::domain::session::Session;
use crate::server::agents::Agents;
use crate::server::agents::agent::Agent;
use crate::server::blobs::Blobs;
use crate::server::lock::lock;
use crate::server::mint;
use crate::server::store::{Store, StoreError};
use crate::server::turns::log::TurnLog;
use crate::server::turns::recovery::interrupt_turns;
use crate::wire::list::ViewCounts;
use crate::wire::rest::{RunningSession, Transcript};

/// How many commands may wait for one session.
const MAX_WAITING_COMMANDS: usize = 64;

#[derive(Clone)]
pub struct Registry {
    store: Store,
    blobs: Blobs,
    turn_log: TurnLog,
    agents: Agents,
    board: Board,
    epoch: Epoch,
    tasks: Arc<Mutex<TaskTable>>,
}

impl Registry {
    pub fn new(store: Store, blobs: Blobs, turn_log: TurnLog, agents: Agents) -> Self {
        let board = Board::new(store.clone());
        let epoch = mint::epoch();
        Self { store, blobs, turn_log, agents, board, epoch, tasks: Arc::default() }
    }

    pub fn epoch(&self) -> &Epoch {
        &self.epoch
    }

    pub fn board(&self) -> &Board {
        &self.board
    }

    pub fn agents(&self) -> &Agents {
        &self.agents
    }

    /// Hands a command to the session's task, starting the task if there is none.
    pub async fn send(&self, id: &SessionId, command: TaskCommand) -> Result<(), SessionError> {
        let mut command = command;
        loop {
            let commands = match self.commands_of(id) {
                Some(commands) => commands,
                None => self.start(id).await?,
            };
            match commands.send(command).await {
                Ok(()) => return Ok(()),
                // The task left between the look-up and the send: start it again.
                Err(mpsc::error::SendError(returned)) => command = returned,
            }
        }
    }

    /// Hands a stored turn to its session's task without waiting, and starts the task if there is
    /// none. The turn is safe by now: one that no task can take is found unfinished by the next
    /// start, and ended visibly.
    pub fn hand_over(&self, id: &SessionId, turn: Turn) {
        if self.tasks().hand_over(id, turn) == HandOver::NeedsTask {
            let (registry, id) = (self.clone(), id.clone());
            tokio::spawn(async move {
                if let Err(error) = registry.start(&id).await {
                    tracing::error!(session = %id, %error, "a stored turn cannot be started");
                    registry.tasks().handed_over.remove(&id);
                }
            });
        }
    }

    /// Counts the turns that a session was handed and has not ended.
    pub fn unended_turns(&self, id: &SessionId) -> usize {
        self.tasks().unended_turns(id)
    }

    /// Sends a command and waits for its answer.
    pub async fn ask<T>(
        &self,
        id: &SessionId,
        command: impl FnOnce(oneshot::Sender<T>) -> TaskCommand,
    ) -> Result<T, SessionError> {
        let (reply, answer) = oneshot::channel();
        self.send(id, command(reply)).await?;
        answer.await.map_err(|_| match self.tasks().closed {
            true => SessionError::ShuttingDown,
            false => SessionError::TaskFailed,
        })
    }

    /// Joins a session's stream of events.
    pub async fn subscribe(
        &self,
        id: &SessionId,
        cursor: Option<Cursor>,
    ) -> Result<Feed, SessionError> {
        self.ask(id, |reply| TaskCommand::Subscribe { cursor, reply }).await
    }

    /// Reads a conversation with the number of the last event in it. A session without a task is
    /// read from the store alone, and no task is started for it.
    pub async fn transcript(&self, id: &SessionId, limit: u32) -> Result<Transcript, SessionError> {
        if self.tasks().has_task(id) {
            let transcript =
                self.ask(id, |reply| TaskCommand::Transcript { limit, reply }).await??;
            return transcript.ok_or(SessionError::NotFound);
        }
        let seq = self.tasks().retired.get(id).copied().unwrap_or_default();
        let session = self.store.session(id).await?.ok_or(SessionError::NotFound)?;
        let page = self.store.message_page(id, None, limit).await?;
        let live = Live {
            status: session.status,
            messages: page.messages,
            continuation: session.continuation_session_id.clone(),
            ..Live::default()
        };
        let as_of = Cursor { epoch: self.epoch.clone(), seq };
        Ok(Transcript::new(session, live, page.has_earlier, as_of))
    }

    /// Shows a row's present state in every open list.
    pub async fn announce(&self, id: &SessionId) -> Result<(), SessionError> {
        self.announce_as(Happened::Changed, id).await
    }

    /// Shows a row's present state, and says what happened to it.
    pub async fn announce_as(
        &self,
        happened: Happened,
        id: &SessionId,
    ) -> Result<(), SessionError> {
        let meta = self.meta_of(id);
        Ok(self.board.post(happened, id, meta.as_ref()).await?)
    }

    pub async fn view_counts(&self) -> Result<ViewCounts, StoreError> {
        self.store.view_counts().await
    }

    /// Puts what runs over what is stored.
    pub fn show_on(&self, session: &mut Session) {
        if let Some(meta) = self.meta_of(&session.session_id) {
            meta.show_on(session);
        }
    }

    /// Gives the number of a session's last event.
    pub fn latest_seq(&self, id: &SessionId) -> Seq {
        let tasks = self.tasks();
        let running = tasks.running.get(id).map(|handle| handle.meta.borrow().seq);
        running.or_else(|| tasks.retired.get(id).copied()).unwrap_or_default()
    }

    pub fn desk(&self, id: &SessionId) -> Option<Desk> {
        self.tasks().running.get(id).map(|handle| handle.desk.clone())
    }

    pub fn running(&self) -> Vec<RunningSession> {
        let tasks = self.tasks();
        let running = tasks.running.iter().map(|(session_id, handle)| {
            let meta = handle.meta.borrow();
            RunningSession {
                session_id: session_id.clone(),
                status: meta.status,
                seq: meta.seq,
                queued: meta.queued,
            }
        });
        running.collect()
    }

    /// Takes a task off the list, unless something reached it meanwhile.
    pub(super) fn retire(&self, id: &SessionId, latest: Seq, inbox: &Inbox) -> bool {
        self.tasks().retire(id, latest, inbox)
    }

    /// Lets every running turn end as interrupted and be saved as such, then the agents go.
    pub async fn shut_down(&self) {
        let handles: Vec<_> = {
            let mut tasks = self.tasks();
            tasks.closed = true;
            tasks.running.drain().map(|(_, handle)| handle.commands).collect()
        };
        let leaving = handles.into_iter().map(|commands| async move {
            let (reply, done) = oneshot::channel();
            if commands.send(TaskCommand::Shutdown(reply)).await.is_ok() {
                let _ = done.await;
            }
        });
        futures::future::join_all(leaving).await;
        self.agents.close();
    }

    /// Lets one session's turn end as interrupted, and its task leave.
    pub async fn dismiss(&self, id: &SessionId) {
        let handle = self.tasks().running.remove(id);
        if let Some(handle) = handle {
            let (reply, done) = oneshot::channel();
            if handle.commands.send(TaskCommand::Shutdown(reply)).await.is_ok() {
                let _ = done.await;
            }
        }
    }

    async fn start(&self, id: &SessionId) -> Result<mpsc::Sender<TaskCommand>, SessionError> {
        let session = self.store.session(id).await?.ok_or(SessionError::NotFound)?;
        let agent = self
            .agents
            .get(&session.agent)
            .ok_or_else(|| SessionError::UnknownAgent(session.agent.clone()))?;
        let kept = match session.open_questions {
            0 => None,
            _ => self.store.waiting_answer(id).await?,
        };
        self.spawn(&session, kept, agent)
    }

    /// Puts a task on the list and sets it going, unless another caller was quicker.
    fn spawn(
        &self,
        session: &Session,
        kept: Option<Message>,
        agent: Arc<dyn Agent>,
    ) -> Result<mpsc::Sender<TaskCommand>, SessionError> {
        let id = &session.session_id;
        let mut tasks = self.tasks();
        if tasks.closed {
            return Err(SessionError::ShuttingDown);
        }
        if let Some(handle) = tasks.running.get(id).filter(|handle| !handle.commands.is_closed()) {
            return Ok(handle.commands.clone());
        }
        let (commands, inbox_commands) = mpsc::channel(MAX_WAITING_COMMANDS);
        let (starts, inbox_starts) = mpsc::unbounded_channel();
        let inbox = Inbox { commands: inbox_commands, starts: inbox_starts };
        let unended = UnendedTurns::default();
        let latest = tasks.retired.remove(id).unwrap_or_default();
        let (meta_sender, meta) = watch::channel(TaskMeta::at_start(session, latest));
        let around = Surroundings {
            registry: self.clone(),
            board: self.board.clone(),
            desk: Desk::default(),
            store: self.store.clone(),
            blobs: self.blobs.clone(),
            turn_log: self.turn_log.clone(),
            unended: unended.clone(),
            epoch: self.epoch.clone(),
        };
        let desk = around.desk.clone();
        let task = SessionTask::new(around, session, kept, agent, latest, inbox, meta_sender);
        self.supervise(id.clone(), task, unended.clone());
        let handle = TaskHandle { commands: commands.clone(), starts, unended, meta, desk };
        tasks.insert(id, handle);
        Ok(commands)
    }

    /// Runs a task. When it panics, its turns end as interrupted, and the next command or turn
    /// starts a new one.
    fn supervise(&self, id: SessionId, task: SessionTask, unended: UnendedTurns) {
        let registry = self.clone();
        tokio::spawn(async move {
            if AssertUnwindSafe(task.run()).catch_unwind().await.is_ok() {
                return;
            }
            tracing::error!(session = %id, "the session's task panicked");
            // Under the lock, so that no turn is handed over meanwhile.
            let turns = registry.tasks().take_unended(&unended);
            let (store, log) = (&registry.store, &registry.turn_log);
            if let Err(error) = interrupt_turns(store, log, turns).await {
                tracing::error!(session = %id, %error, "its turns could not be ended");
            }
            if let Err(error) = registry.announce(&id).await {
                tracing::error!(session = %id, %error, "its row could not be shown");
            }
        });
    }

    fn commands_of(&self, id: &SessionId) -> Option<mpsc::Sender<TaskCommand>> {
        let tasks = self.tasks();
        tasks
            .running
            .get(id)
            .filter(|handle| !handle.commands.is_closed())
            .map(|handle| handle.commands.clone())
    }

    fn meta_of(&self, id: &SessionId) -> Option<TaskMeta> {
        self.tasks().running.get(id).map(|handle| handle.meta.borrow().clone())
    }

    /// A panic elsewhere must not take every session with it: the map stays usable.
    fn tasks(&self) -> MutexGuard<'_, TaskTable> {
        lock(&self.tasks)
    }
}
