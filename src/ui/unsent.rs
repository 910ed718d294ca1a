//! What was written or chosen in a conversation and not sent: text outlives the page, files and
//! the writing itself outlive the view.

use leptos::prelude::*;

use super::platform;
use super::state::AppState;
use crate::domain::ids::SessionId;
use crate::domain::message::Attachment;

/// Files chosen for the next prompt, and how many are on their way to the server. Counted, not
/// owned by a view: an upload that ends after its view has gone still finds its place.
#[derive(Clone, Default)]
pub struct Chosen {
    pub files: ArcRwSignal<Vec<Attachment>>,
    pub uploading: ArcRwSignal<usize>,
}

impl Chosen {
    pub fn is_empty(&self) -> bool {
        self.files.with(Vec::is_empty)
    }

    pub fn is_uploading(&self) -> bool {
        self.uploading.get() > 0
    }
}

impl AppState {
    pub fn draft(self, session_id: &SessionId) -> String {
        self.memory(|memory| memory.drafts.get(session_id).cloned()).unwrap_or_default()
    }

    pub fn keep_draft(self, session_id: &SessionId, text: String) {
        if self.draft(session_id) != text {
            self.remember(|memory| {
                if text.is_empty() {
                    memory.drafts.remove(session_id);
                } else {
                    memory.drafts.insert(session_id.clone(), text);
                }
            });
        }
    }

    /// Gives the files chosen for a conversation's next prompt.
    pub fn chosen_files(self, session_id: &SessionId) -> Chosen {
        let mut chosen = Chosen::default();
        self.chosen_files.update_value(|all| {
            // Nothing is held for a conversation in which nothing is chosen.
            all.retain(|_, chosen| untrack(|| !chosen.is_empty() || chosen.is_uploading()));
            chosen = all.entry(session_id.clone()).or_default().clone();
        });
        chosen
    }

    /// Takes everything unsent along to where the conversation goes on.
    pub fn move_unsent(self, from: &SessionId, to: &SessionId) {
        let text = self.draft(from);
        if !text.is_empty() {
            self.keep_draft(from, String::new());
            self.keep_draft(to, text);
        }
        self.chosen_files.update_value(|all| {
            if let Some(chosen) = all.remove(from) {
                all.insert(to.clone(), chosen);
            }
        });
    }

    /// Remembers that somebody is writing, so that they go on where the conversation goes on.
    pub fn hand_over_writing(self, to: &SessionId) {
        self.writing.set_value(platform::is_writing().then(|| to.clone()));
    }

    /// Tells whether somebody was writing when the conversation moved here.
    pub fn takes_over_writing(self, session_id: &SessionId) -> bool {
        let writing = self.writing.try_update_value(Option::take).flatten();
        writing.as_ref() == Some(session_id)
    }
}
