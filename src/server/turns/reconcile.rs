//! Brings what the journal says of a turn and what the store holds of it to one end.
//!
//! Turns are matched by their id, never by their words, so the second of two equal prompts is found
//! missing. Nothing is invented: a prompt comes back word for word, and a missing answer becomes a
//! mark that there is none.

use crate::domain::event::Outcome;
use crate::domain::ids::{MessageId, SessionId, TurnId};
use crate::domain::list::preview;
use crate::domain::message::{Message, MessageState, Part, Role};
use crate::domain::session::Milestone;
use crate::domain::time::Timestamp;
use crate::domain::turn::Step;
use crate::server::journal::Turn;
use crate::server::mint;
use crate::server::store::{Store, StoreError};
use crate::server::turns::log::{WITHDRAWN, steps_to};
use crate::server::turns::submit::prompt_parts;
use crate::wire::journal::{Submission, TurnEvent};
use crate::wire::recovery::Action;

/// What is to be done about one turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub session_id: SessionId,
    pub turn_id: TurnId,
    pub actions: Vec<Action>,
    state: Step,
    submission: Option<Submission>,
    submitted_at: Timestamp,
    prompt_id: Option<MessageId>,
    answer: Option<(SessionId, Message)>,
}

/// Compares journal and store. A turn in order has a plan without actions.
pub async fn plan(store: &Store, session_id: &SessionId, turn: Turn) -> Result<Plan, StoreError> {
    let prompt = store.prompt_of_turn(&turn.turn_id).await?;
    let answer = store.answer_of_turn(&turn.turn_id).await?;
    let answered = answer.as_ref().map(|(_, answer)| answer.state);
    let mut actions = Vec::new();
    match turn.state {
        Step::Completed => {}
        Step::Interrupted if turn.reason.as_deref() == Some(WITHDRAWN) => {
            if prompt.as_ref().is_some_and(|prompt| !prompt.is_withdrawn) {
                actions.push(Action::HidePrompt);
            }
        }
        state => {
            if prompt.is_none() && turn.submission.is_some() {
                actions.push(Action::RestorePrompt);
            }
            if matches!(answered, None | Some(MessageState::Streaming)) {
                actions.push(Action::MarkInterrupted);
            }
            match answered {
                _ if state.is_terminal() => {}
                Some(MessageState::Complete) => actions.push(Action::CloseAsCompleted),
                _ => actions.push(Action::CloseAsInterrupted),
            }
        }
    }
    Ok(Plan {
        session_id: session_id.clone(),
        turn_id: turn.turn_id,
        actions,
        state: turn.state,
        submission: turn.submission,
        submitted_at: Timestamp::from_seconds(turn.submitted_at),
        prompt_id: prompt.map(|prompt| prompt.message.message_id),
        answer,
    })
}

impl Plan {
    /// Does what is to be done in the store. Once that is on the disk, `closing` belongs in the
    /// journal.
    pub async fn repair_store(&mut self, store: &Store) -> Result<(), StoreError> {
        let current = current_row(store, &self.session_id).await?;
        if self.actions.contains(&Action::HidePrompt)
            && let Some(prompt_id) = &self.prompt_id
        {
            store.withdraw_prompt(prompt_id).await?;
        }
        if self.actions.contains(&Action::RestorePrompt)
            && let Some(submission) = self.submission.take()
        {
            let parts = prompt_parts(submission.content, submission.attachments);
            let prompt = message(&self.turn_id, Role::User, parts, self.submitted_at);
            store.restore_prompt(&current, &prompt).await?;
        }
        if self.actions.contains(&Action::MarkInterrupted) {
            let placeholder = message(&self.turn_id, Role::Assistant, Vec::new(), mint::now());
            let (session_id, answer) = self.answer.take().unwrap_or((current, placeholder));
            interrupt(store, &session_id, answer).await?;
            store.mark_unread(&session_id, true).await?;
        }
        Ok(())
    }

    /// Returns the steps that end the turn in the journal.
    pub fn closing(&self, reason: &str) -> Vec<TurnEvent> {
        if self.actions.contains(&Action::CloseAsCompleted) {
            let completed = TurnEvent::Completed { assistant_message_id: self.answer_id() };
            return steps_to(self.state, completed);
        }
        if self.actions.contains(&Action::CloseAsInterrupted) {
            return vec![TurnEvent::Interrupted { reason: Some(reason.to_owned()) }];
        }
        Vec::new()
    }

    fn answer_id(&self) -> Option<MessageId> {
        self.answer.as_ref().map(|(_, answer)| answer.message_id.clone())
    }
}

/// Ends an answer as interrupted, in the conversation and in the list. A question in it that nobody
/// has answered is kept.
pub(super) async fn interrupt(
    store: &Store,
    session_id: &SessionId,
    mut answer: Message,
) -> Result<(), StoreError> {
    let (state, now) = (Outcome::Interrupted.state_of(&answer), mint::now());
    answer.end(state, now);
    store.save_message(session_id, &answer).await?;
    let line = preview(&answer.text());
    store.record_end(session_id, true, Milestone::of_end(state), &line, now).await
}

/// Finds the row in which a conversation goes on, where a reader looks for it.
async fn current_row(store: &Store, id: &SessionId) -> Result<SessionId, StoreError> {
    let session = store.session(id).await?;
    Ok(session.and_then(|session| session.canonical_visible_session_id).unwrap_or(id.clone()))
}

/// Returns what the journal holds of a prompt, by the message that it is stored as.
pub(super) fn submission_of(prompt: Message, workspace: String) -> Submission {
    let (mut content, mut attachments) = (String::new(), Vec::new());
    for part in prompt.parts {
        match part {
            Part::Text { text } => content.push_str(&text),
            Part::Attachment(attachment) => attachments.push(attachment),
            _ => {}
        }
    }
    Submission { content, attachments, workspace, model: None, model_provider: None }
}

fn message(turn_id: &TurnId, role: Role, parts: Vec<Part>, at: Timestamp) -> Message {
    Message {
        message_id: mint::message_id(),
        turn_id: Some(turn_id.clone()),
        role,
        state: MessageState::Complete,
        parts,
        usage: None,
        created_at: at,
        ended_at: Some(at),
        recovered: true,
    }
}
