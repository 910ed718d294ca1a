//! The turn journal as the rest of the server sees it: async, and in terms of turns.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::runtime::{Handle, RuntimeFlavor};

use crate::domain::ids::{SessionId, TurnId};
use crate::domain::turn::Step;
use crate::server::journal::{Journal, JournalError, PendingLine};
use crate::server::lock::lock;
use crate::server::mint;
use crate::wire::journal::{Record, Submission, TurnEvent};

/// The reason that the journal gives for a prompt which its sender took back.
pub const WITHDRAWN: &str = "withdrawn";

/// Where a turn's steps are written. Clones share the journal.
#[derive(Clone)]
pub struct TurnLog {
    journal: Journal,
    /// Turns that were submitted since the start and have not ended.
    in_flight: Arc<Mutex<HashSet<TurnId>>>,
}

impl TurnLog {
    pub fn new(journal: Journal) -> Self {
        Self { journal, in_flight: Arc::default() }
    }

    /// Appends what a person sent. It is on the disk when this returns, and stays once it is
    /// accepted. A caller that waits for nothing else may block in place.
    pub async fn submitted(
        &self,
        session: &SessionId,
        turn: &TurnId,
        submission: Submission,
        in_place: bool,
    ) -> Result<PendingLine, JournalError> {
        // In flight before it can be read, so that no audit reports it as unfinished.
        self.in_flight_mut().insert(turn.clone());
        let record = record(session, turn, TurnEvent::Submitted(submission));
        let line = if in_place && is_multi_threaded() {
            // Two switches of thread fewer; the runtime's other work moves to another thread.
            tokio::task::block_in_place(|| self.journal.append_pending(session, &record))
        } else {
            let session = session.clone();
            self.blocking(move |journal| journal.append_pending(&session, &record)).await
        };
        if line.is_err() {
            self.ended(turn);
        }
        line
    }

    /// Appends that a prompt was taken back, in the same way.
    pub async fn withdrawn(
        &self,
        session: &SessionId,
        turn: &TurnId,
    ) -> Result<PendingLine, JournalError> {
        let event = TurnEvent::Interrupted { reason: Some(WITHDRAWN.to_owned()) };
        let (session, record) = (session.clone(), record(session, turn, event));
        self.blocking(move |journal| journal.append_pending(&session, &record)).await
    }

    /// Removes a line that was not accepted.
    pub async fn remove_line(&self, line: PendingLine) {
        let removed = self.blocking(|_| {
            line.cut_off();
            Ok(())
        });
        if let Err(error) = removed.await {
            tracing::error!(%error, "a refused line could not be removed from the journal");
        }
    }

    /// Appends a step that follows. The disk is not waited for: if a power loss takes it, recovery
    /// finds the turn at an earlier step and comes to the same end.
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

    /// Marks a turn as no longer in flight, whatever the journal could be told of its end.
    pub fn ended(&self, turn: &TurnId) {
        self.in_flight_mut().remove(turn);
    }

    /// Returns the turns that an audit must not report as unfinished.
    pub fn in_flight(&self) -> HashSet<TurnId> {
        self.in_flight_mut().clone()
    }

    fn in_flight_mut(&self) -> MutexGuard<'_, HashSet<TurnId>> {
        lock(&self.in_flight)
    }

    /// Does something that blocks on the disk, on a thread for that.
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

/// Tells whether the runtime has other threads that go on while this one blocks.
fn is_multi_threaded() -> bool {
    let runtime = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    matches!(runtime, Ok(RuntimeFlavor::MultiThread))
}

fn record(session: &SessionId, turn: &TurnId, event: TurnEvent) -> Record {
    Record::new(turn, session, mint::now().seconds(), event)
}

/// Returns the steps that lead from a state to an event and end with it, each of which must be there.
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
