//! How a session makes things known: events to readers, checkpoints to the store, rows to lists.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::chronicle::Happened;
use super::scribe::write_down;
use super::task::SessionTask;
use crate::domain::event::{DeltaKind, Event};
use crate::domain::ids::SessionId;
use crate::domain::message::Message;
use crate::server::agents::agent::Happening;
use crate::server::mint;
use crate::server::store::Store;

/// About two display refreshes: what an agent says meanwhile becomes one event.
const GATHER: Duration = Duration::from_millis(33);

/// The longest that output may exist in memory alone.
const CHECKPOINT: Duration = Duration::from_secs(1);

/// What waits to be made known: gathered words, and an answer not yet written to the store.
#[derive(Debug, Default)]
pub struct Pending {
    words: Option<(DeltaKind, String)>,
    words_due: Option<Instant>,
    checkpoint_due: Option<Instant>,
    /// A milestone passed while nobody looked.
    unseen: bool,
}

/// A write of the answer under way that goes on beside the loop; it tells whether it was done.
pub type Saving = AbortOnDropHandle<bool>;

/// Waits for the write under way, for ever if there is none.
pub async fn until_saved(saving: &mut Option<Saving>) -> bool {
    let Some(under_way) = saving else {
        return std::future::pending().await;
    };
    let saved = under_way.await.unwrap_or_default();
    *saving = None;
    saved
}

async fn write_answer(store: &Store, session_id: &SessionId, answer: &Message) -> bool {
    let saved = store.save_message(session_id, answer).await;
    if let Err(error) = &saved {
        tracing::error!(session = %session_id, %error, "an answer could not be saved");
    }
    saved.is_ok()
}

impl Pending {
    pub fn due(&self) -> Option<Instant> {
        [self.words_due, self.checkpoint_due].into_iter().flatten().min()
    }
}

impl SessionTask {
    /// Numbers an event, applies it and sends it to every reader, in this order.
    pub(super) fn emit(&mut self, event: Event) {
        self.live.apply(&event);
        if let Some(milestone) = event.milestone() {
            self.meta.send_modify(|meta| meta.milestone = Some(milestone));
            self.pending.unseen |= self.events.receiver_count() == 0;
        }
        let numbered = self.ring.push(event);
        // An error means that nobody looks, which is no reason to stop.
        let _ = self.events.send(numbered);
        let (status, open_questions) = (self.live.status, self.live.open_questions());
        let (seq, queued) = (self.ring.latest(), self.queue.len());
        self.meta.send_modify(|meta| {
            meta.status = status;
            meta.seq = seq;
            meta.queued = queued;
            meta.open_questions = u32::try_from(open_questions).unwrap_or(u32::MAX);
        });
    }

    /// Gathers words of one kind; words of the other kind wait behind them.
    pub(super) fn gather(&mut self, kind: DeltaKind, text: &str) {
        match &mut self.pending.words {
            Some((gathered, words)) if *gathered == kind => words.push_str(text),
            _ => {
                self.flush_words();
                self.pending.words = Some((kind, text.to_owned()));
                self.pending.words_due = Some(Instant::now() + GATHER);
            }
        }
    }

    pub(super) fn flush_words(&mut self) {
        self.pending.words_due = None;
        let happening = match self.pending.words.take() {
            Some((DeltaKind::Text, text)) => Happening::Text(text),
            Some((DeltaKind::Thinking, text)) => Happening::Thinking(text),
            None => return,
        };
        self.write(happening);
    }

    /// Turns a happening into events of the answer under way.
    pub(super) fn write(&mut self, happening: Happening) {
        let Some(answer) = self.current_answer() else {
            return;
        };
        for event in write_down(answer, happening, mint::now()) {
            self.emit(event);
        }
        let due = Instant::now() + CHECKPOINT;
        self.pending.checkpoint_due.get_or_insert(due);
    }

    pub(super) fn current_answer(&self) -> Option<&Message> {
        let answer_id = &self.running.as_ref()?.answer_id;
        self.live.messages.iter().rfind(|message| message.message_id == *answer_id)
    }

    /// Writes the answer under way to the store beside the loop: a busy disk holds no words up.
    fn save(&mut self) {
        self.pending.checkpoint_due = None;
        let Some(answer) = self.current_answer() else {
            return;
        };
        if self.saving.is_some() {
            self.pending.checkpoint_due = Some(Instant::now() + CHECKPOINT);
            return;
        }
        let (store, session_id) = (self.around.store.clone(), self.session_id.clone());
        let answer = answer.clone();
        let write = async move { write_answer(&store, &session_id, &answer).await };
        self.saving = Some(AbortOnDropHandle::new(tokio::spawn(write)));
    }

    /// Writes the answer under way to the store and waits until that is done.
    pub(super) async fn checkpoint(&mut self) -> bool {
        self.pending.checkpoint_due = None;
        // An older state must not be written after a newer one.
        if let Some(saving) = self.saving.take() {
            let _ = saving.await;
        }
        let Some(answer) = self.current_answer() else {
            return true;
        };
        let saved = write_answer(&self.around.store, &self.session_id, answer).await;
        self.note_saved(saved).await;
        saved
    }

    /// Notes that the answer under way is stored; if it is not, it is tried again a little later.
    pub(super) async fn note_saved(&mut self, saved: bool) {
        if saved {
            self.note_output().await;
        } else {
            self.pending.checkpoint_due = Some(Instant::now() + CHECKPOINT);
        }
    }

    /// Does what has become due.
    pub(super) async fn do_due(&mut self) {
        let now = Instant::now();
        if self.pending.words_due.is_some_and(|due| due <= now) {
            self.flush_words();
        }
        if self.pending.checkpoint_due.is_some_and(|due| due <= now) {
            self.save();
        }
        let stop_by = self.running.as_ref().and_then(|running| running.stop_by);
        if stop_by.is_some_and(|due| due <= now) {
            self.give_up_on_agent().await;
        }
    }

    /// Shows the row's present state in every open list.
    pub(super) async fn announce(&mut self) {
        self.announce_as(Happened::Changed).await;
    }

    /// Shows the row's present state, and says what happened to it.
    pub(super) async fn announce_as(&mut self, happened: Happened) {
        if std::mem::take(&mut self.pending.unseen) {
            self.mark_unread().await;
        }
        let meta = self.meta.borrow().clone();
        let posted = self.around.board.post(happened, &self.session_id, Some(&meta)).await;
        if let Err(error) = posted {
            tracing::error!(session = %self.session_id, %error, "a row could not be read");
        }
    }

    /// Keeps that nobody has seen the last milestone; it is the living row that shows it.
    async fn mark_unread(&self) {
        let shown = self.live.continuation.as_ref().unwrap_or(&self.session_id);
        if let Err(error) = self.around.store.mark_unread(shown, true).await {
            tracing::error!(session = %shown, %error, "a row could not be marked unread");
        }
        if *shown != self.session_id
            && let Err(error) = self.around.board.post(Happened::Changed, shown, None).await
        {
            tracing::error!(session = %shown, %error, "a row could not be read");
        }
    }
}
