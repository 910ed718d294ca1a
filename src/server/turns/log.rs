//! The turn journal as the rest of the server sees it: async, and in terms of turns.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::runtime::{Handle, RuntimeFlavor};

use crate::domain::ids::{SessionId, TurnId};
use crate::domain::turn::Step;
use crate::server::journal::{Journal, JournalError, NewLine, Place};
use crate::server::lock::lock;
use crate::server::mint;
use crate::wire::journal::{Record, Submission, TurnEvent};

/// The reason that the journal gives for a prompt which its sender took back.
pub const WITHDRAWN: &str = "withdrawn";

/// Where a turn's steps are written down.
#[derive(Clone)]
pub struct TurnLog {
    journal: Journal,
    /// Turns that entered since the start and have not come to their end.
    under_way: Arc<Mutex<HashSet<TurnId>>>,
}

impl TurnLog {
    pub fn new(journal: Journal) -> Self {
        Self { journal, under_way: Arc::default() }
    }

    /// Takes a place among those who wait for the disk.
    pub fn take_place(&self) -> Place {
        self.journal.take_place()
    }

    /// Writes down what a person sent, and does something else while the disk is waited for; it is
    /// on the disk when this returns. Whoever is alone waits here, without anything coming between;
    /// others wait together.
    pub async fn submitted(
        &self,
        place: Place,
        session: &SessionId,
        turn: &TurnId,
        submission: Submission,
        meanwhile: impl FnOnce() + Send + 'static,
    ) -> Result<(), JournalError> {
        let record = record(session, turn, TurnEvent::Submitted(submission));
        // Known before it is readable, so that no audit takes it for a turn left behind.
        self.under_way_mut().insert(turn.clone());
        let done = if place.is_alone() {
            in_place(|| self.journal.append_synced_while(session, &record, meanwhile))
        } else {
            self.append_with_others(session, &record, meanwhile).await
        };
        if done.is_err() {
            self.under_way_mut().remove(turn);
        }
        done
    }

    async fn append_with_others(
        &self,
        session: &SessionId,
        record: &Record,
        meanwhile: impl FnOnce() + Send + 'static,
    ) -> Result<(), JournalError> {
        let (line, synced) = NewLine::new(session, record, meanwhile)?;
        self.journal.join(line);
        synced.await.unwrap_or_else(|gone| Err(JournalError::Io(io::Error::other(gone))))
    }

    /// Writes down a step that follows. The disk is not waited for: if a power loss takes it,
    /// recovery finds the turn at an earlier step and comes to the same end.
    pub async fn step(
        &self,
        session: &SessionId,
        turn: &TurnId,
        event: TurnEvent,
    ) -> Result<(), JournalError> {
        let record = record(session, turn, event);
        let session = session.clone();
        self.blocking(move |journal| journal.append(&session, &record)).await
    }

    /// Says that nothing works on a turn any more, whatever the journal could be told of its end.
    pub fn ended(&self, turn: &TurnId) {
        self.under_way_mut().remove(turn);
    }

    /// Names the turns that are not to be taken for left behind.
    pub fn under_way(&self) -> HashSet<TurnId> {
        self.under_way_mut().clone()
    }

    fn under_way_mut(&self) -> MutexGuard<'_, HashSet<TurnId>> {
        lock(&self.under_way)
    }

    /// Does something that waits for the disk beside the async threads.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Journal) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let journal = self.journal.clone();
        match tokio::task::spawn_blocking(move || work(&journal)).await {
            Ok(done) => done,
            Err(error) => Err(JournalError::Io(io::Error::other(error))),
        }
    }
}

/// Waits for the disk without going to another thread, which would cost a good part of the wait
/// again; the runtime's other work moves on to one of its own.
fn in_place<T>(work: impl FnOnce() -> T) -> T {
    if has_threads() { tokio::task::block_in_place(work) } else { work() }
}

/// Tells whether the runtime has other threads that go on while this one waits.
pub fn has_threads() -> bool {
    let runtime = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    matches!(runtime, Ok(RuntimeFlavor::MultiThread))
}

fn record(session: &SessionId, turn: &TurnId, event: TurnEvent) -> Record {
    Record::new(turn, session, mint::now().seconds(), event)
}

/// Gives the steps that lead from a state to an event and end with it, each of which must be there.
pub fn steps_to(from: Step, event: TurnEvent) -> Vec<TurnEvent> {
    let way = [TurnEvent::WorkerStarted, TurnEvent::AssistantStarted];
    let reached = match from {
        Step::Submitted => 0,
        Step::WorkerStarted => 1,
        Step::AssistantStarted => 2,
        Step::Completed | Step::Interrupted => return Vec::new(),
    };
    let needed = match event.step() {
        Step::AssistantStarted => 1,
        Step::Completed => 2,
        Step::Submitted | Step::WorkerStarted | Step::Interrupted => 0,
    };
    let mut steps: Vec<_> = way.into_iter().take(needed).skip(reached).collect();
    steps.push(event);
    steps
}
