//! The conversations that a browser works with: they stand above history in its list, and come back
//! with it.

use leptos::prelude::*;
use leptos::reactive::spawn_local;

use super::state::AppState;
use crate::api::sessions::list_sessions;
use crate::domain::ids::SessionId;

/// The most conversations that count as active; the one looked at longest ago makes room.
const MOST_ACTIVE: usize = 20;

impl AppState {
    /// Brings back what was active at the last visit. Rows that the list's first page lacks are
    /// fetched; one that is gone is dropped, and a server that does not answer changes nothing.
    pub fn restore_active(self) {
        let remembered = self.remembered_active();
        self.work_with(remembered.clone());
        if remembered.is_empty() {
            return;
        }
        spawn_local(async move {
            let Ok(page) = list_sessions(None, remembered.clone()).await else { return };
            let rows = page.sessions;
            let found = |id: &SessionId| rows.iter().any(|row| row.session_id == *id);
            self.keep_active(|active| {
                active.retain(|id| found(id) || !remembered.contains(id));
            });
            self.show_rows(rows);
        });
    }

    /// Counts a conversation as one that the reader works with.
    pub fn activate(self, session_id: &SessionId) {
        if self.active.with_untracked(|active| active.last() == Some(session_id)) {
            return;
        }
        self.keep_active(|active| {
            active.retain(|id| id != session_id);
            active.push(session_id.clone());
            let surplus = active.len().saturating_sub(MOST_ACTIVE);
            active.drain(..surplus);
        });
    }

    fn keep_active(self, change: impl FnOnce(&mut Vec<SessionId>)) {
        let active = self.change_remembered_active(change);
        self.work_with(active);
    }
}
