//! What stands before the page, and what people do with rows of the list.

use leptos::prelude::*;
use leptos::reactive::spawn_local;
use leptos_router::NavigateOptions;

use super::components::address;
use super::state::AppState;
use crate::api::lists::act;
use crate::api::sessions::new_session;
use crate::domain::ids::SessionId;
use crate::wire::list::RowAction;

/// What stands before the page until it is answered or closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Overlay {
    /// Everything that can be found and done, by its words.
    Palette,
    /// The list of keyboard shortcuts.
    Shortcuts,
    /// What can be done with one row of the list.
    Row(SessionId),
}

/// What was done with rows, or why it could not be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notice {
    pub words: String,
    /// How to take it back.
    pub undo: Option<Undo>,
}

/// The rows that were changed, and what makes them as they were.
type Undo = (Vec<SessionId>, RowAction);

impl AppState {
    /// Puts something before the page, unless it stands there already.
    pub fn open(self, overlay: Overlay) {
        if self.overlay.with_untracked(|open| open.as_ref() != Some(&overlay)) {
            self.overlay.set(Some(overlay));
        }
    }

    /// Says something that cannot be taken back.
    pub fn say(self, words: String) {
        self.notice.set(Some(Notice { words, undo: None }));
    }

    /// Makes a conversation as the last one was and opens it, or says why not.
    pub fn start_conversation(self, navigate: impl Fn(&str, NavigateOptions) + 'static) {
        spawn_local(async move {
            match new_session(None, None).await {
                Ok(row) => navigate(&address::of_session(&row.session_id), Default::default()),
                Err(failure) => self.say(failure.message),
            }
        });
    }

    /// Chooses a row beside others, or no longer.
    pub fn choose_row(self, id: &SessionId) {
        self.chosen.update(|chosen| {
            let chosen = chosen.get_or_insert_default();
            match chosen.iter().position(|known| known == id) {
                Some(place) => drop(chosen.remove(place)),
                None => chosen.push(id.clone()),
            }
        });
    }

    /// Does something with rows. The list hears of it as it hears of all changes; what can be taken
    /// back is offered, and `leave` is called when the conversation in view is gone.
    pub fn act(self, ids: Vec<SessionId>, action: RowAction, leave: impl Fn() + 'static) {
        self.chosen.set(None);
        let undo = self.reverse_of(&ids, &action);
        spawn_local(async move {
            let notice = match act(ids, action.clone()).await {
                Ok(done) => {
                    let gone = action == RowAction::Delete;
                    if gone
                        && self
                            .in_view
                            .with_untracked(|id| id.as_ref().is_some_and(|id| done.contains(id)))
                    {
                        leave();
                    }
                    done_with(&done, &action, undo)
                }
                Err(failure) => Some(Notice { words: failure.message, undo: None }),
            };
            self.notice.set(notice);
        });
    }

    /// Gives what takes an action back: the rows that it changes, and what makes them as they are.
    fn reverse_of(self, ids: &[SessionId], action: &RowAction) -> Option<Undo> {
        let rows = || ids.iter().filter_map(|id| self.row(id));
        let (changed, reverse) = match action {
            RowAction::Delete => (ids.to_vec(), RowAction::Restore),
            RowAction::Archive(archived) => (ids.to_vec(), RowAction::Archive(!archived)),
            RowAction::Pin(pinned) => {
                let changed = rows().filter(|row| row.pinned != *pinned);
                (changed.map(|row| row.session_id.clone()).collect(), RowAction::Pin(!pinned))
            }
            RowAction::Rename(_) => (ids.to_vec(), RowAction::Rename(rows().next()?.title.clone())),
            RowAction::Restore => return None,
        };
        Some((changed, reverse))
    }
}

/// Says what was done where it can be taken back.
fn done_with(done: &[SessionId], action: &RowAction, undo: Option<Undo>) -> Option<Notice> {
    let (mut changed, reverse) = undo?;
    changed.retain(|id| done.contains(id));
    let verb = match action {
        RowAction::Delete => "deleted.",
        RowAction::Archive(true) => "archived.",
        RowAction::Archive(false) => "taken out of the archive.",
        RowAction::Pin(true) => "pinned.",
        RowAction::Pin(false) => "no longer pinned.",
        RowAction::Rename(_) => "renamed.",
        RowAction::Restore => return None,
    };
    let words = match done.len() {
        1 => ["Conversation ", verb].concat(),
        count => [&count.to_string(), " conversations ", verb].concat(),
    };
    let undo = (!changed.is_empty()).then_some((changed, reverse));
    Some(Notice { words, undo })
}
