//! What the whole app shares: the connection, the rows of the list and the conversation in view.

use std::collections::HashMap;

use leptos::prelude::*;
use serde_json::value::RawValue;

use super::in_view::{Focused, InView};
use super::listing::{OpenList, RowChanges};
use super::outbox::Outbox;
use super::overlay::{Notice, Overlay};
use super::platform;
use super::sight::Sight;
use super::unsent::Chosen;
use crate::domain::ids::{CommandId, SessionId};
use crate::domain::list::ListView;
use crate::wire::error::{Failure, FailureCode};
use crate::wire::list::ViewCounts;
use crate::wire::outbox::OutboxTurn;
use crate::wire::restore::PersistedRestoreV1;
use crate::wire::socket::{ClientFrame, Command, ServerFrame, Subscription};

/// How things stand with the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkState {
    /// The first attempt is under way; nothing is wrong yet.
    Connecting,
    Online,
    /// The connection broke and is being made again.
    Broken,
}

/// What the server answers to a command: its data, if it has any.
pub type Answer = Result<Option<Box<RawValue>>, Failure>;

/// What to do once the answer to a command is known.
type OnAnswer = Box<dyn FnOnce(Answer) + Send + Sync>;

#[derive(Clone, Copy)]
pub struct AppState {
    /// Whether the page runs in a browser and need no longer be what the server wrote.
    pub alive: RwSignal<bool>,
    pub link: RwSignal<LinkState>,
    /// The name of the page in view; empty for the app itself.
    pub title: RwSignal<String>,
    pub rows: RwSignal<RowChanges>,
    /// How many rows each view has, once that changed since the list was fetched.
    pub counts: RwSignal<Option<ViewCounts>>,
    pub view: RwSignal<ListView>,
    pub sight: Sight,
    /// What stands before the page and wants an answer.
    pub overlay: RwSignal<Option<Overlay>>,
    /// The rows that are chosen, while several are being chosen.
    pub chosen: RwSignal<Option<Vec<SessionId>>>,
    /// What was last done with rows.
    pub notice: RwSignal<Option<Notice>>,
    /// Counts reconnections; whatever is derived from fetched data fetches again.
    pub returns: RwSignal<u32>,
    pub outbox: Outbox,
    /// The conversations that this browser works with, the last one in view at the end. Known only
    /// once the page is alive.
    pub active: RwSignal<Vec<SessionId>>,
    /// How many pages were shown since the app started.
    pages: StoredValue<u32>,
    /// What the browser remembers; read from its storage at the first need.
    pub(super) memory: StoredValue<Option<PersistedRestoreV1>>,
    focused: StoredValue<Option<Focused>>,
    /// The conversation in view, as far as the list is concerned.
    pub in_view: RwSignal<Option<SessionId>>,
    pub(super) list: StoredValue<Option<OpenList>>,
    /// The connection was made again, and it is not known yet whether all that was missed came.
    catching_up: StoredValue<bool>,
    waiting: StoredValue<HashMap<CommandId, OnAnswer>>,
    pub(super) chosen_files: StoredValue<HashMap<SessionId, Chosen>>,
    /// The conversation in which somebody goes on writing once it is on the page.
    pub(super) writing: StoredValue<Option<SessionId>>,
}

impl AppState {
    pub fn new() -> Self {
        Self {
            alive: RwSignal::new(false),
            link: RwSignal::new(LinkState::Connecting),
            title: RwSignal::default(),
            rows: RwSignal::default(),
            counts: RwSignal::new(None),
            view: RwSignal::new(ListView::Leaves),
            sight: Sight::new(),
            overlay: RwSignal::new(None),
            chosen: RwSignal::new(None),
            notice: RwSignal::new(None),
            returns: RwSignal::new(0),
            outbox: Outbox::new(),
            active: RwSignal::default(),
            pages: StoredValue::new(0),
            memory: StoredValue::new(None),
            focused: StoredValue::new(None),
            in_view: RwSignal::new(None),
            list: StoredValue::new(None),
            catching_up: StoredValue::new(false),
            waiting: StoredValue::default(),
            chosen_files: StoredValue::default(),
            writing: StoredValue::new(None),
        }
    }

    /// Finds the state of the app that a component belongs to.
    pub fn current() -> Self {
        use_context().unwrap_or_else(Self::new)
    }

    /// Opens the socket; what comes from it is routed here.
    pub fn connect(self) {
        platform::connect(
            move || self.subscriptions(),
            move |frame| self.receive(frame),
            move || self.broke(),
        );
    }

    /// Brings a conversation into view: its events are wanted from now on, and its row stands in
    /// the list.
    pub fn focus(self, conversation: Focused) {
        let session_id = conversation.session_id();
        self.look_at(Some(session_id.clone()));
        self.remember_focus(Some(session_id.clone()));
        self.activate(session_id);
        self.focused.set_value(Some(conversation.clone()));
        platform::send(&ClientFrame::Subscribe(conversation.subscription()));
        self.command(session_id, Command::Seen, |_| {});
        self.outbox.shown(&conversation.turns());
    }

    /// Leads the reader of a conversation to where it goes on.
    pub fn follow(self, from: &SessionId, to: &SessionId) {
        self.with_focused(from, |conversation| conversation.follow(to.clone()));
    }

    /// Puts the text of a prompt that could not be sent back where it was written.
    pub fn give_back(self, turn: OutboxTurn, failure: Failure) {
        let mut in_view = false;
        self.with_focused(&turn.session_id, |conversation| {
            in_view = true;
            conversation.give_back(turn.clone(), failure.message.clone());
        });
        if !in_view {
            let draft = self.draft(&turn.session_id);
            let text = if draft.is_empty() {
                turn.content
            } else {
                [turn.content.as_str(), "\n\n", draft.as_str()].concat()
            };
            self.keep_draft(&turn.session_id, text);
        }
    }

    /// Takes a conversation out of view, unless another one is in view already.
    pub fn blur(self, session_id: &SessionId) {
        let mut was_focused = false;
        self.focused.update_value(|focused| {
            was_focused = focused.as_ref().is_some_and(|it| it.session_id() == session_id);
            if was_focused {
                *focused = None;
            }
        });
        if was_focused {
            self.look_at(None);
            platform::send(&ClientFrame::Unsubscribe { session_id: session_id.clone() });
        }
    }

    /// Tells whether a conversation is the one in view.
    pub fn is_focused(self, session_id: &SessionId) -> bool {
        self.focused.with_value(|focused| {
            focused.as_ref().is_some_and(|focused| focused.session_id() == session_id)
        })
    }

    /// Tells whether the reader has been on no other page since the app started.
    pub fn is_first_page(self) -> bool {
        self.pages.get_value() <= 1
    }

    /// Counts a page that is shown.
    pub fn count_page(self) {
        self.pages.update_value(|pages| *pages += 1);
    }

    /// Sends a command and calls back with its outcome, at once if it could not leave.
    pub fn command(
        self,
        session_id: &SessionId,
        command: Command,
        outcome: impl FnOnce(Result<(), Failure>) + Send + Sync + 'static,
    ) {
        let Ok(command_id) = CommandId::parse(&platform::mint_id()) else {
            return;
        };
        self.send_command(session_id, command_id, command, |answer| outcome(answer.map(|_| ())));
    }

    /// Sends a command under an id of its own and calls back with its answer.
    pub(super) fn send_command(
        self,
        session_id: &SessionId,
        command_id: CommandId,
        command: Command,
        on_answer: impl FnOnce(Answer) + Send + Sync + 'static,
    ) {
        self.waiting.update_value(|waiting| {
            waiting.insert(command_id.clone(), Box::new(on_answer));
        });
        let frame = ClientFrame::RpcCommand {
            session_id: session_id.clone(),
            command_id: command_id.clone(),
            command,
        };
        if !platform::send(&frame) {
            self.resolve_command(&command_id, Err(unreachable_server()));
        }
    }

    fn resolve_command(self, command_id: &CommandId, answer: Answer) {
        let callback = self.waiting.try_update_value(|waiting| waiting.remove(command_id));
        if let Some(callback) = callback.flatten() {
            callback(answer);
        }
    }

    fn subscriptions(self) -> Vec<Subscription> {
        self.focused
            .with_value(|focused| focused.as_ref().map(|it| it.subscription()))
            .into_iter()
            .collect()
    }

    fn receive(self, frame: ServerFrame) {
        match frame {
            ServerFrame::Welcome { .. } => self.welcomed(),
            ServerFrame::SessionsChanged { changed, removed, counts } => {
                self.hear_of_rows(changed, removed, counts);
            }
            ServerFrame::RpcEvent { session_id, epoch, seq, event, .. } => {
                self.with_focused(&session_id, |it| it.receive(&epoch, seq, &event));
            }
            ServerFrame::RpcReplayGap { session_id, .. } => {
                self.catching_up.set_value(false);
                self.with_focused(&session_id, |it| it.refetch());
            }
            ServerFrame::RpcResponse { command_id, ok, data, error, .. } => {
                let answer =
                    if ok { Ok(data) } else { Err(error.unwrap_or_else(unreachable_server)) };
                self.resolve_command(&command_id, answer);
            }
            ServerFrame::RpcPong { .. } => self.caught_up(),
            ServerFrame::SessionMeta(_)
            | ServerFrame::RpcSessionNotFound { .. }
            | ServerFrame::Error { .. } => {}
        }
    }

    /// Routes by session id; what belongs to no conversation in view is dropped.
    fn with_focused(self, session_id: &SessionId, act: impl FnOnce(&dyn InView)) {
        let focused = self.focused.get_value().filter(|focused| focused.session_id() == session_id);
        if let Some(conversation) = focused {
            act(&*conversation);
        }
    }

    fn welcomed(self) {
        let returned = self.link.get_untracked() == LinkState::Broken;
        self.link.set(LinkState::Online);
        if returned {
            self.fetch_list_again();
            self.returns.update(|count| *count += 1);
        }
        self.resend();
        // What was missed comes before the answer to this.
        self.catching_up.set_value(true);
        platform::send(&ClientFrame::RpcPing { ts: 0.0 });
    }

    /// Takes the unread mark off what is in view, once everything that was missed has come. A
    /// conversation that must be fetched anew is marked as seen when it was.
    fn caught_up(self) {
        let caught_up = self.catching_up.try_update_value(std::mem::take).unwrap_or_default();
        if let Some(conversation) = self.focused.get_value().filter(|_| caught_up) {
            self.command(conversation.session_id(), Command::Seen, |_| {});
        }
    }

    /// What was under way may or may not have reached the server; prompts are sent again under
    /// the same id, everything else is reported as not done.
    fn broke(self) {
        self.link.set(LinkState::Broken);
        let waiting = self.waiting.try_update_value(std::mem::take).unwrap_or_default();
        for callback in waiting.into_values() {
            callback(Err(unreachable_server()));
        }
    }
}

fn unreachable_server() -> Failure {
    Failure::new(FailureCode::Network, "The server cannot be reached right now.")
}
