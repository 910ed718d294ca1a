//! Which tasks run, and what they were handed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::{mpsc, watch};

use super::desk::Desk;
use super::inbox::{Inbox, TaskCommand, Turn};
use super::task::TaskMeta;
use crate::domain::ids::{Seq, SessionId, TurnId};
use crate::server::lock::lock;

/// The turns that a task was handed and has not ended, with the session whose journal has each.
pub type UnendedTurns = Arc<Mutex<HashMap<TurnId, SessionId>>>;

pub struct TaskHandle {
    pub commands: mpsc::Sender<TaskCommand>,
    /// Unbounded, so that the committer never waits; the committer bounds what it hands over.
    pub starts: mpsc::UnboundedSender<Box<Turn>>,
    pub unended: UnendedTurns,
    pub meta: watch::Receiver<TaskMeta>,
    pub desk: Desk,
}

impl TaskHandle {
    /// Hands a turn to the task, or returns it when the task is gone.
    fn start(&self, turn: Box<Turn>) -> Result<(), Box<Turn>> {
        lock(&self.unended).insert(turn.turn_id.clone(), turn.submitted_to.clone());
        self.starts.send(turn).map_err(|mpsc::error::SendError(turn)| {
            lock(&self.unended).remove(&turn.turn_id);
            turn
        })
    }
}

#[derive(Default)]
pub struct TaskTable {
    pub running: HashMap<SessionId, TaskHandle>,
    /// Turns in their order, for tasks that are being started.
    pub handed_over: HashMap<SessionId, Vec<Turn>>,
    /// The last number of each task that left, so that numbering goes on within the epoch.
    pub retired: HashMap<SessionId, Seq>,
    pub closed: bool,
}

/// What handing over a turn led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandOver {
    Done,
    /// The turn waits for a task that the caller has to start.
    NeedsTask,
}

impl TaskTable {
    /// Hands a turn to its task, or keeps it for the task that is started next.
    pub fn hand_over(&mut self, id: &SessionId, turn: Turn) -> HandOver {
        let turn = match self.running.get(id) {
            Some(handle) => match handle.start(Box::new(turn)) {
                Ok(()) => return HandOver::Done,
                Err(turn) => *turn,
            },
            None => turn,
        };
        let waiting = self.handed_over.entry(id.clone()).or_default();
        waiting.push(turn);
        if waiting.len() == 1 { HandOver::NeedsTask } else { HandOver::Done }
    }

    /// Puts a new task on the list and hands it the turns that waited for it.
    pub fn insert(&mut self, id: &SessionId, handle: TaskHandle) {
        for turn in self.handed_over.remove(id).unwrap_or_default() {
            // The task is not gone: it only retires by this list.
            let _ = handle.start(Box::new(turn));
        }
        self.running.insert(id.clone(), handle);
    }

    /// Takes a task off the list, unless something reached it meanwhile.
    pub fn retire(&mut self, id: &SessionId, latest: Seq, inbox: &Inbox) -> bool {
        if !inbox.is_empty() {
            return false;
        }
        self.running.remove(id);
        self.retired.insert(id.clone(), latest);
        true
    }

    /// Tells whether a session has a task, or a turn for which one is being started: what was
    /// acknowledged is in every transcript that is read after it.
    pub fn has_task(&self, id: &SessionId) -> bool {
        let is_running = |handle: &TaskHandle| !handle.commands.is_closed();
        self.handed_over.contains_key(id) || self.running.get(id).is_some_and(is_running)
    }

    /// Takes the turns of a task that is gone.
    pub fn take_unended(&mut self, unended: &UnendedTurns) -> HashMap<TurnId, SessionId> {
        std::mem::take(&mut *lock(unended))
    }

    pub fn unended_turns(&self, id: &SessionId) -> usize {
        let unended = self.running.get(id).map_or(0, |handle| lock(&handle.unended).len());
        unended + self.handed_over.get(id).map_or(0, Vec::len)
    }
}
