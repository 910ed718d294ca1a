//! What leaves the browser: prompts, kept until the server has them, and commands.

use leptos::prelude::*;

use super::state::Conversation;
use crate::domain::ids::{SessionId, TurnId};
use crate::ui::platform;
use crate::wire::error::{Failure, FailureCode};
use crate::wire::socket::Command;

/// A prompt that the server has not acknowledged yet.
#[derive(Clone, PartialEq)]
pub struct Unsent {
    pub turn_id: TurnId,
    pub content: String,
}

impl Conversation {
    /// Gives what was written here and not sent.
    pub fn draft(&self) -> String {
        self.app.draft(&self.session_id)
    }

    pub fn keep_draft(&self, text: String) {
        self.app.keep_draft(&self.session_id, text);
    }

    pub fn move_draft(&self, to: &SessionId) {
        let text = self.draft();
        if !text.is_empty() {
            self.keep_draft(String::new());
            self.app.keep_draft(to, text);
        }
    }

    /// Sends a prompt: shown at once, kept until the server has it.
    pub fn send(&self, content: String) {
        let Ok(turn_id) = TurnId::parse(&platform::mint_id()) else {
            return;
        };
        self.problem.set(None);
        let unsent = Unsent { turn_id, content };
        self.unsent.update(|all| all.push(unsent.clone()));
        self.grown.notify();
        self.submit(unsent);
    }

    /// Sends again what was not acknowledged, under the same ids.
    pub fn resend(&self) {
        for unsent in self.unsent.get_untracked() {
            self.submit(unsent);
        }
    }

    fn submit(&self, unsent: Unsent) {
        let command = Command::Prompt {
            turn_id: unsent.turn_id.clone(),
            content: unsent.content.clone(),
            attachments: Vec::new(),
        };
        let conversation = self.clone();
        self.app.command(&self.session_id, command, move |outcome| {
            let Err(failure) = outcome else { return };
            match (failure.code, failure.canonical_visible_session_id.clone()) {
                // Without the network the prompt waits here and leaves by itself later.
                (FailureCode::Network, _) => {}
                (FailureCode::WrongTarget, Some(target)) => conversation.hand_over(unsent, target),
                _ => conversation.give_back(&unsent, failure),
            }
        });
    }

    /// Lets the conversation that this one went on in send the prompt, under the same id.
    fn hand_over(&self, unsent: Unsent, target: SessionId) {
        self.unsent.update(|all| all.retain(|it| it.turn_id != unsent.turn_id));
        self.app.hand_over(target.clone(), unsent);
        self.continuation.set(Some(target));
    }

    /// Takes over what was sent to an earlier part of this conversation.
    pub fn take_over(&self) {
        for unsent in self.app.handed_over(&self.session_id) {
            self.unsent.update(|all| all.push(unsent.clone()));
            self.submit(unsent);
        }
    }

    fn give_back(&self, unsent: &Unsent, failure: Failure) {
        self.unsent.update(|all| all.retain(|it| it.turn_id != unsent.turn_id));
        self.returned.set(Some(unsent.content.clone()));
        self.problem.set(Some(failure.message));
    }

    /// Sends a command whose failure is shown above the composer.
    pub fn command(&self, command: Command) {
        let problem = self.problem.clone();
        problem.set(None);
        self.app.command(&self.session_id, command, move |outcome| {
            problem.set(outcome.err().map(|failure| failure.message));
        });
    }
}
