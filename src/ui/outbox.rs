//! The way out for prompts: stored in the browser before they are sent, shown as waiting, sent
//! again under the same id after whatever went wrong, and gone only when the server has them.

use leptos::prelude::*;
use serde_json::value::RawValue;

use super::platform;
use super::state::AppState;
use crate::domain::ids::{CommandId, SessionId, TurnId};
use crate::wire::error::{Failure, FailureCode};
use crate::wire::outbox::OutboxTurn;
use crate::wire::rest::TurnReceipt;
use crate::wire::socket::Command;

/// A prompt on its way.
#[derive(Clone, PartialEq)]
pub struct Outgoing {
    pub turn: OutboxTurn,
    /// The server has it; it stays in view until the conversation itself shows it.
    pub sent: bool,
}

#[derive(Clone, Copy)]
pub struct Outbox {
    outgoing: RwSignal<Vec<Outgoing>>,
}

impl Outbox {
    pub fn new() -> Self {
        Self { outgoing: RwSignal::default() }
    }

    /// Brings back what an earlier visit, or another tab, left unsent.
    pub fn load(self) {
        let stored = platform::outbox();
        self.outgoing.update(|all| {
            for turn in stored {
                if all.iter().all(|known| known.turn.turn_id != turn.turn_id) {
                    all.push(Outgoing { turn, sent: false });
                }
            }
        });
    }

    /// Lists what is on its way to a conversation, in the order of sending.
    pub fn of(self, session_id: &SessionId) -> Vec<Outgoing> {
        let belongs = |it: &&Outgoing| it.turn.session_id == *session_id;
        self.outgoing.with(|all| all.iter().filter(belongs).cloned().collect())
    }

    /// Counts the prompts that wait to be sent.
    pub fn waiting(self) -> usize {
        self.outgoing.with(|all| all.iter().filter(|it| !it.sent).count())
    }

    fn unsent(self) -> Vec<OutboxTurn> {
        self.outgoing.with_untracked(|all| {
            all.iter().filter(|it| !it.sent).map(|it| it.turn.clone()).collect()
        })
    }

    /// Takes a prompt in, and tells whether the browser could store it as well.
    fn add(self, turn: OutboxTurn) -> bool {
        let is_stored = platform::change_outbox(|turns| turns.push(turn.clone()));
        self.outgoing.update(|all| all.push(Outgoing { turn, sent: false }));
        is_stored
    }

    /// Takes note that the server has a prompt.
    fn acknowledge(self, turn_id: &TurnId) {
        self.forget(turn_id);
        self.change(turn_id, |it| it.sent = true);
    }

    /// Takes a prompt out of the way, for good.
    fn drop(self, turn_id: &TurnId) {
        self.forget(turn_id);
        self.outgoing.update(|all| all.retain(|it| it.turn.turn_id != *turn_id));
    }

    /// Lets a prompt go to another conversation, under the same id.
    fn redirect(self, turn_id: &TurnId, target: &SessionId) {
        platform::change_outbox(|turns| {
            for turn in turns.iter_mut().filter(|turn| turn.turn_id == *turn_id) {
                turn.session_id = target.clone();
            }
        });
        self.change(turn_id, |it| it.turn.session_id = target.clone());
    }

    /// Stops showing prompts that their conversation shows by now.
    pub fn shown(self, turn_ids: &[TurnId]) {
        let shown = |it: &Outgoing| turn_ids.contains(&it.turn.turn_id);
        if self.outgoing.with_untracked(|all| all.iter().any(shown)) {
            for turn_id in turn_ids {
                self.forget(turn_id);
            }
            self.outgoing.update(|all| all.retain(|it| !shown(it)));
        }
    }

    fn forget(self, turn_id: &TurnId) {
        platform::change_outbox(|turns| turns.retain(|turn| turn.turn_id != *turn_id));
    }

    fn change(self, turn_id: &TurnId, change: impl FnOnce(&mut Outgoing)) {
        self.outgoing.update(|all| {
            if let Some(outgoing) = all.iter_mut().find(|it| it.turn.turn_id == *turn_id) {
                change(outgoing);
            }
        });
    }
}

impl AppState {
    /// Stores a prompt, then sends it. Tells whether it would survive the end of this page.
    pub fn send(self, turn: OutboxTurn) -> bool {
        let is_stored = self.outbox.add(turn.clone());
        self.submit(turn);
        is_stored
    }

    /// Sends again what was not acknowledged, whatever conversation it belongs to.
    pub fn resend(self) {
        self.outbox.load();
        for turn in self.outbox.unsent() {
            self.submit(turn);
        }
    }

    fn submit(self, turn: OutboxTurn) {
        let command = Command::Prompt {
            turn_id: turn.turn_id.clone(),
            content: turn.content.clone(),
            attachments: turn.attachments.clone(),
        };
        let (session_id, command_id) = (turn.session_id.clone(), CommandId::from(&turn.turn_id));
        self.send_command(&session_id, command_id, command, move |answer| match answer {
            Ok(receipt) => self.acknowledged(&turn, receipt),
            Err(failure) => self.not_sent(turn, failure),
        });
    }

    /// Takes note that the server has a prompt, by what the receipt says of it.
    fn acknowledged(self, turn: &OutboxTurn, receipt: Option<Box<RawValue>>) {
        let receipt = receipt.and_then(|text| serde_json::from_str::<TurnReceipt>(text.get()).ok());
        let Some(receipt) = receipt else {
            return self.outbox.acknowledge(&turn.turn_id);
        };
        if receipt.state.is_terminal() {
            // A late copy: the conversation shows the turn, or its sender took it back.
            return self.outbox.drop(&turn.turn_id);
        }
        self.outbox.acknowledge(&turn.turn_id);
        if receipt.session_id != turn.session_id {
            self.outbox.redirect(&turn.turn_id, &receipt.session_id);
            self.follow(&turn.session_id, &receipt.session_id);
        }
    }

    fn not_sent(self, turn: OutboxTurn, failure: Failure) {
        match (failure.code, failure.canonical_visible_session_id.clone()) {
            // Without the network the prompt waits here and leaves by itself later.
            (FailureCode::Network, _) => {}
            (FailureCode::WrongTarget, Some(target)) => {
                self.outbox.redirect(&turn.turn_id, &target);
                self.follow(&turn.session_id, &target);
                self.submit(OutboxTurn { session_id: target, ..turn });
            }
            _ => {
                self.outbox.drop(&turn.turn_id);
                self.give_back(turn, failure);
            }
        }
    }
}
