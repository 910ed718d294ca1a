//! What leaves a conversation: prompts, drafts on their way to become prompts, and commands.

use leptos::prelude::*;

use super::state::Conversation;
use crate::domain::ids::TurnId;
use crate::domain::message::{Attachment, Part, Role};
use crate::ui::platform;
use crate::ui::unsent::Chosen;
use crate::wire::outbox::OutboxTurn;
use crate::wire::socket::Command;

impl Conversation {
    /// Gives what was written here and not sent.
    pub fn draft(&self) -> String {
        self.app.draft(&self.session_id)
    }

    /// Keeps what is written, for where the conversation goes on if it does.
    pub fn keep_draft(&self, text: String) {
        let continuation = self.continuation.get_untracked();
        self.app.keep_draft(continuation.as_ref().unwrap_or(&self.session_id), text);
    }

    pub fn chosen_files(&self) -> Chosen {
        self.app.chosen_files(&self.session_id)
    }

    /// Tells whether somebody was writing when the conversation moved here.
    pub fn takes_over_writing(&self) -> bool {
        self.app.takes_over_writing(&self.session_id)
    }

    /// Sends a prompt: kept and shown at once, until the server has it. Tells whether the outbox has
    /// taken it in.
    pub fn send(&self, content: String, attachments: Vec<Attachment>) -> bool {
        let Ok(turn_id) = TurnId::parse(&platform::mint_id()) else {
            self.problem.set(Some("This message could not be sent. Try it again.".to_owned()));
            return false;
        };
        let session_id = self.session_id.clone();
        let is_stored = self.app.send(OutboxTurn { turn_id, session_id, content, attachments });
        self.problem.set((!is_stored).then(|| {
            "This browser has no space to keep your message. Stay on this page until it is sent."
                .to_owned()
        }));
        self.grown.notify();
        true
    }

    /// Sends the prompt of a turn once more, as a turn of its own.
    pub fn retry(&self, turn_id: &TurnId) {
        if let Some(prompt) = self.prompt_of(turn_id) {
            self.send(prompt.content, prompt.attachments);
        }
    }

    /// Takes a queued prompt back, to be edited or to be forgotten.
    pub fn withdraw(&self, turn_id: &TurnId, edit: bool) {
        let prompt = self.prompt_of(turn_id).filter(|_| edit);
        let conversation = self.clone();
        let command = Command::Withdraw { turn_id: turn_id.clone() };
        self.app.command(&self.session_id, command, move |outcome| match outcome {
            Ok(()) => conversation.returned.set(prompt),
            Err(failure) => conversation.problem.set(Some(failure.message)),
        });
    }

    fn prompt_of(&self, turn_id: &TurnId) -> Option<OutboxTurn> {
        let prompt = self.with_live(|live| {
            let mut prompts = live.messages.iter().filter(|message| message.role == Role::User);
            prompts.find(|message| message.turn_id.as_ref() == Some(turn_id)).cloned()
        })?;
        let attachments = prompt.parts.iter().filter_map(|part| match part {
            Part::Attachment(attachment) => Some(attachment.clone()),
            _ => None,
        });
        Some(OutboxTurn {
            turn_id: turn_id.clone(),
            session_id: self.session_id.clone(),
            content: prompt.text(),
            attachments: attachments.collect(),
        })
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
