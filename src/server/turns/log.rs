//! The turn journal as the rest of the server sees it: async, and in terms of turns.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::domain::ids::{MessageId, SessionId, TurnId};
use crate::domain::turn::Step;
use crate::server::journal::{Journal, JournalError};
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

    /// Writes down what a person sent; it is on the disk when this returns.
    pub async fn submitted(
        &self,
        session: &SessionId,
        turn: &TurnId,
        submission: Submission,
    ) -> Result<(), JournalError> {
        let record = record(session, turn, TurnEvent::Submitted(submission));
        let session = session.clone();
        // Known before it is readable, so that no audit takes it for a turn left behind.
        self.under_way_mut().insert(turn.clone());
        let done = self.blocking(move |journal| journal.append_synced(&session, &record)).await;
        if done.is_err() {
            self.under_way_mut().remove(turn);
        }
        done
    }

    /// Writes down the steps of a turn that follow. The disk is not waited for: if a power loss
    /// takes them, recovery finds the turn at an earlier step and comes to the same end.
    pub async fn step(
        &self,
        session: &SessionId,
        turn: &TurnId,
        events: Vec<TurnEvent>,
    ) -> Result<(), JournalError> {
        let ended = events.iter().any(|event| event.step().is_terminal());
        let records: Vec<_> =
            events.into_iter().map(|event| record(session, turn, event)).collect();
        let session = session.clone();
        let done = self
            .blocking(move |journal| {
                records.iter().try_for_each(|record| journal.append(&session, record))
            })
            .await;
        if ended {
            self.under_way_mut().remove(turn);
        }
        done
    }

    /// Names the turns that are not to be taken for left behind.
    pub fn under_way(&self) -> HashSet<TurnId> {
        self.under_way_mut().clone()
    }

    fn under_way_mut(&self) -> MutexGuard<'_, HashSet<TurnId>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something that waits for the disk beside the async threads.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Journal) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let journal = self.journal.clone();
        match tokio::task::spawn_blocking(move || work(&journal)).await {
            Ok(done) => done,
            Err(error) => Err(JournalError::Io(std::io::Error::other(error))),
        }
    }
}

fn record(session: &SessionId, turn: &TurnId, event: TurnEvent) -> Record {
    Record::new(turn, session, mint::now().seconds(), event)
}

/// Gives the steps that lead from a state to a finished answer, each of which must be there.
pub fn steps_to_completed(from: Step, answer: Option<MessageId>) -> Vec<TurnEvent> {
    let completed = TurnEvent::Completed { assistant_message_id: answer };
    match from {
        Step::Submitted => {
            vec![TurnEvent::WorkerStarted, TurnEvent::AssistantStarted, completed]
        }
        Step::WorkerStarted => vec![TurnEvent::AssistantStarted, completed],
        Step::AssistantStarted => vec![completed],
        Step::Completed | Step::Interrupted => Vec::new(),
    }
}
