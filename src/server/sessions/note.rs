//! What the journal is told of the turn under way.

use super::task::SessionTask;
use crate::domain::event::{Event, Outcome};
use crate::domain::ids::TurnId;
use crate::domain::turn::Step;
use crate::server::error::ServiceError;
use crate::server::turns::log::steps_to;
use crate::server::turns::withdraw::withdraw;
use crate::wire::error::{Failure, FailureCode};
use crate::wire::journal::TurnEvent;

impl SessionTask {
    pub(super) async fn note_started(&mut self) {
        self.note(TurnEvent::WorkerStarted).await;
    }

    /// Notes, once, that the first of the answer is stored.
    pub(super) async fn note_output(&mut self) {
        let step = self.running.as_ref().map(|running| running.step);
        let waits = matches!(step, Some(Step::Submitted | Step::WorkerStarted));
        let begun = self.current_answer().is_some_and(|answer| !answer.parts.is_empty());
        if waits && begun {
            self.note(TurnEvent::AssistantStarted).await;
        }
    }

    /// Notes the end of the turn. An answer is called whole only when a power cut cannot take it.
    pub(super) async fn note_end(&mut self, outcome: Outcome) {
        let Some(running) = &self.running else {
            return;
        };
        if running.journal.is_none() {
            return;
        }
        let event = match outcome {
            Outcome::Completed => {
                TurnEvent::Completed { assistant_message_id: Some(running.answer_id.clone()) }
            }
            other => TurnEvent::Interrupted { reason: Some(reason_of(other).to_owned()) },
        };
        if let Err(error) = self.around.store.flush_wal().await {
            tracing::error!(session = %self.session_id, %error, "an answer is not on the disk");
            return;
        }
        self.note(event).await;
    }

    /// Takes a prompt out of the queue and out of the conversation, once both the journal and the
    /// store have it; otherwise it stays where it is.
    pub(super) async fn withdraw(&mut self, turn_id: &TurnId) -> Result<(), Failure> {
        let Some(place) = self.queue.iter().position(|turn| turn.turn_id == *turn_id) else {
            let message = "This message is being answered already.";
            return Err(Failure::new(FailureCode::NothingRuns, message));
        };
        let (turn, message_id) = (&self.queue[place], self.queue[place].prompt.message_id.clone());
        let (store, log) = (&self.around.store, &self.around.turn_log);
        withdraw(store, log, &turn.submitted_to, turn_id, &message_id)
            .await
            .map_err(|ServiceError(failure)| failure)?;
        self.queue.remove(place);
        self.forget_turn(turn_id);
        self.emit(Event::MessageRemoved { message_id });
        self.announce().await;
        Ok(())
    }

    /// Writes a step down, after those that an earlier try could not write. A journal that refuses
    /// does not stop the turn: its words are safe, and the next start finds its end in the store.
    async fn note(&mut self, event: TurnEvent) {
        let Some(running) = &mut self.running else {
            return;
        };
        let Some(journal) = &running.journal else {
            return;
        };
        for event in steps_to(running.step, event) {
            let step = event.step();
            if let Err(error) = self.around.turn_log.step(journal, &running.turn_id, event).await {
                tracing::error!(session = %journal, %error, "a step could not be written down");
                return;
            }
            running.step = step;
        }
    }
}

/// Gives the reason that the journal keeps for a turn without a whole answer.
fn reason_of(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Cancelled => "cancelled",
        Outcome::Failed => "agent_error",
        Outcome::Crashed => "agent_crashed",
        Outcome::Interrupted => "server_shutdown",
    }
}
