//! The state of the conversation in view: fetched once, then kept by the same fold as the server's.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::reactive::spawn_local;
use serde_json::value::RawValue;

use super::entry::Entry;
use crate::api::sessions::open_session;
use crate::domain::event::Event;
use crate::domain::ids::{Epoch, Seq, SessionId, TurnId};
use crate::domain::live::{Change, Live};
use crate::domain::message::{Message, Part};
use crate::domain::replay::{Cursor, Verdict, judge};
use crate::domain::session::Status;
use crate::ui::in_view::InView;
use crate::ui::state::AppState;
use crate::wire::outbox::OutboxTurn;
use crate::wire::rest::Transcript;
use crate::wire::socket::{Level, Subscription};

/// Signals here are counted, not owned by the page: an answer that comes after the page was left
/// finds them still there.
#[derive(Clone)]
pub struct Conversation {
    pub(super) app: AppState,
    pub session_id: SessionId,
    /// The title as it was when the conversation was fetched.
    pub title: ArcRwSignal<String>,
    pub entries: ArcRwSignal<Vec<Entry>>,
    pub status: ArcRwSignal<Status>,
    pub queued: ArcRwSignal<Vec<TurnId>>,
    pub continuation: ArcRwSignal<Option<SessionId>>,
    /// How the agent was lost while nothing was asked of it.
    pub lost: ArcRwSignal<Option<String>>,
    pub has_earlier: ArcRwSignal<bool>,
    /// What a person should know about the last thing they tried.
    pub problem: ArcRwSignal<Option<String>>,
    /// The prompt that a failed send gives back.
    pub returned: ArcRwSignal<Option<OutboxTurn>>,
    /// Whether the reader follows what comes at the end.
    pub at_end: ArcRwSignal<bool>,
    /// Fires whenever something new stands at the end.
    pub grown: ArcTrigger,
    live: ArcStoredValue<Live>,
    cursor: ArcStoredValue<Cursor>,
}

impl Conversation {
    pub fn new(app: AppState, transcript: Transcript) -> Self {
        let session_id = transcript.session.session_id.clone();
        let title = transcript.session.title.clone();
        let cursor = transcript.as_of.clone();
        let has_earlier = transcript.has_earlier;
        let live = transcript.into_live();
        Self {
            app,
            session_id,
            title: ArcRwSignal::new(title),
            entries: ArcRwSignal::new(live.messages.iter().map(Entry::new).collect()),
            status: ArcRwSignal::new(live.status),
            queued: ArcRwSignal::new(live.queued.clone()),
            continuation: ArcRwSignal::new(live.continuation.clone()),
            lost: ArcRwSignal::new(live.lost().map(str::to_owned)),
            has_earlier: ArcRwSignal::new(has_earlier),
            problem: ArcRwSignal::new(None),
            returned: ArcRwSignal::new(None),
            at_end: ArcRwSignal::new(true),
            grown: ArcTrigger::new(),
            live: ArcStoredValue::new(live),
            cursor: ArcStoredValue::new(cursor),
        }
    }

    pub(super) fn with_live<T>(&self, read: impl FnOnce(&Live) -> T) -> T {
        self.live.with_value(read)
    }

    /// Reads a message and listens to changes of it as a whole.
    pub fn with_message<T>(&self, entry: &Entry, read: impl FnOnce(&Message) -> T) -> Option<T> {
        entry.changed.track();
        self.peek(entry, read)
    }

    /// Reads one part of a message and listens to that part alone.
    pub fn with_part<T>(
        &self,
        entry: &Entry,
        place: usize,
        read: impl FnOnce(&Part) -> T,
    ) -> Option<T> {
        entry.part(place).track();
        self.peek(entry, |message| message.parts.get(place).map(read)).flatten()
    }

    fn peek<T>(&self, entry: &Entry, read: impl FnOnce(&Message) -> T) -> Option<T> {
        self.live.with_value(|live| {
            let messages = live.messages.iter();
            messages.rev().find(|message| message.message_id == entry.message_id).map(read)
        })
    }

    fn apply(&self, event: &Event) {
        let change = self.live.try_update_value(|live| live.apply(event));
        match change.unwrap_or(Change::Nothing) {
            Change::Nothing => return,
            Change::Session => {}
            Change::Added(place) => self.show_added(place),
            Change::Removed(place) => self.entries.update(|entries| {
                entries.remove(place);
            }),
            Change::Message(place) => self.show_message(place, None),
            Change::Part { message, part } => self.show_message(message, Some(part)),
        }
        self.live.with_value(|live| self.show_state(live));
        self.grown.notify();
    }

    fn show_state(&self, live: &Live) {
        set_if_new(&self.status, live.status);
        set_if_new(&self.queued, live.queued.clone());
        set_if_new(&self.continuation, live.continuation.clone());
        set_if_new(&self.lost, live.lost().map(str::to_owned));
    }

    fn show_added(&self, place: usize) {
        let added = self.live.with_value(|live| {
            live.messages.get(place).map(|message| (Entry::new(message), message.turn_id.clone()))
        });
        if let Some((entry, turn_id)) = added {
            self.entries.update(|entries| entries.push(entry));
            self.app.outbox.shown(turn_id.as_slice());
        }
    }

    fn show_message(&self, place: usize, part: Option<usize>) {
        let parts = self.live.with_value(|live| live.messages.get(place).map(|it| it.parts.len()));
        let entry = self.entries.with_untracked(|entries| entries.get(place).cloned());
        let (Some(parts), Some(entry)) = (parts, entry) else {
            return;
        };
        let grew = entry.grow_to(parts);
        match part {
            Some(part) => entry.part(part).notify(),
            None => entry.notify(),
        }
        if grew {
            entry.changed.notify();
        }
    }

    fn replace(&self, transcript: Transcript) {
        if transcript.session.session_id != self.session_id {
            // It was compressed while nobody looked, and goes on elsewhere.
            self.continuation.set(Some(transcript.session.session_id));
            return;
        }
        self.title.set(transcript.session.title.clone());
        self.has_earlier.set(transcript.has_earlier);
        self.cursor.set_value(transcript.as_of.clone());
        let live = transcript.into_live();
        self.app.outbox.shown(&turns_of(&live));
        self.show_state(&live);
        let entries: Vec<_> = live.messages.iter().map(|message| self.entry_for(message)).collect();
        self.live.set_value(live);
        entries.iter().for_each(Entry::notify);
        self.entries.set(entries);
        self.grown.notify();
        self.app.focus(Arc::new(self.clone()));
    }

    /// Keeps the entry of a message that is shown already, so that its view stays in place.
    fn entry_for(&self, message: &Message) -> Entry {
        let known = self.entries.with_untracked(|entries| {
            entries.iter().find(|entry| entry.message_id == message.message_id).cloned()
        });
        let entry = known.unwrap_or_else(|| Entry::new(message));
        entry.grow_to(message.parts.len());
        entry
    }

    /// Fetches the page before the oldest message shown.
    pub fn fetch_earlier(&self) {
        let conversation = self.clone();
        let oldest =
            self.entries.with_untracked(|entries| entries.first().map(|it| it.message_id.clone()));
        spawn_local(async move {
            let session_id = conversation.session_id.to_string();
            match open_session(session_id, oldest).await {
                Ok(page) => conversation.prepend(page),
                Err(failure) => conversation.problem.set(Some(failure.message)),
            }
        });
    }

    fn prepend(&self, page: Transcript) {
        let Transcript { mut messages, has_earlier, .. } = page;
        let mut entries: Vec<_> = messages.iter().map(Entry::new).collect();
        self.live.update_value(|live| {
            messages.append(&mut live.messages);
            live.messages = messages;
        });
        self.entries.update(|known| {
            entries.append(known);
            *known = entries;
        });
        self.has_earlier.set(has_earlier);
    }
}

impl InView for Conversation {
    fn session_id(&self) -> &SessionId {
        &self.session_id
    }

    fn subscription(&self) -> Subscription {
        Subscription {
            session_id: self.session_id.clone(),
            level: Level::Full,
            cursor: Some(self.cursor.get_value()),
        }
    }

    fn turns(&self) -> Vec<TurnId> {
        self.live.with_value(turns_of)
    }

    fn receive(&self, epoch: &Epoch, seq: Seq, event: &RawValue) {
        match self.cursor.with_value(|cursor| judge(cursor, epoch, seq)) {
            Verdict::Apply => match serde_json::from_str(event.get()) {
                Ok(event) => {
                    self.cursor.update_value(|cursor| cursor.seq = seq);
                    self.apply(&event);
                }
                Err(_) => self.refetch(),
            },
            Verdict::Ignore => {}
            Verdict::Refetch => self.refetch(),
        }
    }

    fn refetch(&self) {
        let conversation = self.clone();
        spawn_local(async move {
            let session_id = conversation.session_id.to_string();
            // Who has gone on to another conversation meanwhile is not taken back here.
            if let Ok(transcript) = open_session(session_id, None).await
                && conversation.app.is_focused(&conversation.session_id)
            {
                conversation.replace(transcript);
            }
        });
    }

    fn follow(&self, continuation: SessionId) {
        self.continuation.set(Some(continuation));
    }

    fn give_back(&self, turn: OutboxTurn, problem: String) {
        self.returned.set(Some(turn));
        self.problem.set(Some(problem));
    }
}

fn turns_of(live: &Live) -> Vec<TurnId> {
    live.messages.iter().filter_map(|message| message.turn_id.clone()).collect()
}

fn set_if_new<T: PartialEq + Send + Sync + 'static>(signal: &ArcRwSignal<T>, value: T) {
    if signal.with_untracked(|known| *known != value) {
        signal.set(value);
    }
}
