//! A turn that may enter: the journal has it, synced, and meanwhile the store its message → the
//! session is told.

use tokio::sync::oneshot::error::TryRecvError;

use super::answer::Given;
use super::gate::{Half, Passage};
use super::log::has_threads;
use super::submit::{conflict, prompt_parts};
use crate::domain::message::{Message, MessageState, Role};
use crate::domain::turn::Step;
use crate::server::error::ServiceError;
use crate::server::journal::Place;
use crate::server::mint;
use crate::server::sessions::{TaskCommand, Turn};
use crate::server::state::Services;
use crate::server::store::{NewPrompt, StoreError, Stored};
use crate::wire::journal::Submission;
use crate::wire::rest::{StartTurn, TurnReceipt};

pub(super) struct Entry {
    pub passage: Passage,
    pub place: Place,
    pub turn: StartTurn,
    pub workspace: String,
    pub given: Option<Given>,
}

impl Entry {
    /// Waits for nothing in a way that could be cut short, if the turn has the disk to itself.
    pub async fn finish(mut self, services: &Services) -> Result<TurnReceipt, ServiceError> {
        let prompt = prompt_of(&self.turn);
        self.enter(services, &prompt).await?;
        let Self { passage, turn, given, .. } = self;
        drop(passage);
        Ok(hand_over(services, turn, prompt, given).await)
    }

    /// Puts the turn into the journal and into the store, unless an earlier try came as far as one.
    async fn enter(&mut self, services: &Services, prompt: &Message) -> Result<(), ServiceError> {
        let Self { passage, place, turn, workspace, .. } = self;
        let alone = place.is_alone();
        let new = NewPrompt { session_id: turn.session_id.clone(), message: prompt.clone() };
        let (begin, storing) = services.store.prepare_prompt(new);
        let written = match passage.half() {
            Some(Half::Unstored(known)) if known != turn => return Err(conflict()),
            Some(_) => {
                begin();
                Ok(())
            }
            None => {
                let submission = Submission {
                    content: turn.content.clone(),
                    attachments: turn.attachments.clone(),
                    workspace: std::mem::take(workspace),
                    model: None,
                    model_provider: None,
                };
                let (log, session_id) = (&services.turn_log, &turn.session_id);
                let place = std::mem::take(place);
                log.submitted(place, session_id, &turn.turn_id, submission, begin).await
            }
        };
        match (written, until_stored(storing, alone).await) {
            (Ok(()), Ok(_)) => {
                passage.forget();
                Ok(())
            }
            (Ok(()), Err(error)) => {
                passage.remember(Half::Unstored(turn.clone()));
                Err(error.into())
            }
            (Err(error), Ok(_)) => {
                let message_id = &prompt.message_id;
                passage.remember(Half::Refused(message_id.clone()));
                if services.store.remove_message(message_id).await.is_ok() {
                    passage.forget();
                }
                Err(error.into())
            }
            (Err(error), Err(_)) => Err(error.into()),
        }
    }
}

/// Waits for the store, which is done before the disk is as a rule.
async fn until_stored(mut storing: Stored, alone: bool) -> Result<bool, StoreError> {
    match storing.try_recv() {
        Ok(stored) => return stored,
        Err(TryRecvError::Closed) => return Err(StoreError::Closed),
        Err(TryRecvError::Empty) => {}
    }
    let gone = |_| Err(StoreError::Closed);
    if alone && has_threads() {
        tokio::task::block_in_place(|| storing.blocking_recv().unwrap_or_else(gone))
    } else {
        storing.await.unwrap_or_else(gone)
    }
}

/// Hands a stored turn to its session. It is safe by now, so a session that cannot take it up is no
/// reason to tell the sender otherwise: the next start finds it unfinished and says so.
async fn hand_over(
    services: &Services,
    turn: StartTurn,
    prompt: Message,
    given: Option<Given>,
) -> TurnReceipt {
    let receipt = TurnReceipt {
        turn_id: turn.turn_id.clone(),
        session_id: turn.session_id.clone(),
        message_id: prompt.message_id.clone(),
        accepted: true,
        state: Step::Submitted,
    };
    let session_id = turn.session_id;
    let start = TaskCommand::Start(Box::new(Turn {
        turn_id: turn.turn_id,
        submitted_to: session_id.clone(),
        prompt,
        attachments: turn.attachments,
        given,
    }));
    let Err(start) = services.registry.try_send(&session_id, start) else {
        return receipt;
    };
    // A sender who hangs up must not leave a turn that nobody takes up.
    let registry = services.registry.clone();
    let sending = tokio::spawn(async move {
        if let Err(error) = registry.send(&session_id, start).await {
            tracing::error!(session = %session_id, %error, "a turn was stored and not taken up");
        }
    });
    let _ = sending.await;
    receipt
}

fn prompt_of(turn: &StartTurn) -> Message {
    let now = mint::now();
    Message {
        message_id: mint::message_id(),
        turn_id: Some(turn.turn_id.clone()),
        role: Role::User,
        state: MessageState::Complete,
        parts: prompt_parts(turn.content.clone(), turn.attachments.clone()),
        usage: None,
        created_at: now,
        ended_at: Some(now),
        recovered: false,
    }
}
