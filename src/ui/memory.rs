//! What the browser remembers from one visit to the next: focus, active conversations and drafts.

use leptos::prelude::*;

use super::platform;
use super::state::AppState;
use crate::domain::ids::SessionId;
use crate::wire::restore::PersistedRestoreV1;

impl AppState {
    /// Gives the conversation that was in view when the browser was last here.
    pub fn remembered_focus(self) -> Option<SessionId> {
        self.memory(|memory| memory.focused_session_id.clone())
    }

    pub fn remember_focus(self, session_id: Option<SessionId>) {
        if self.remembered_focus() != session_id {
            self.remember(|memory| memory.focused_session_id = session_id);
        }
    }

    pub fn remembered_active(self) -> Vec<SessionId> {
        self.memory(|memory| memory.active_session_ids.clone())
    }

    pub fn change_remembered_active(
        self,
        change: impl FnOnce(&mut Vec<SessionId>),
    ) -> Vec<SessionId> {
        self.remember(|memory| change(&mut memory.active_session_ids));
        self.remembered_active()
    }

    pub(super) fn memory<T>(self, read: impl FnOnce(&mut PersistedRestoreV1) -> T) -> T {
        let mut memory = self.memory.get_value().unwrap_or_else(platform::remembered);
        let found = read(&mut memory);
        self.memory.set_value(Some(memory));
        found
    }

    /// Changes what is remembered. It is read anew, for another tab may have changed it.
    pub(super) fn remember(self, change: impl FnOnce(&mut PersistedRestoreV1)) {
        let mut memory = platform::remembered();
        change(&mut memory);
        self.memory.set_value(Some(memory.clone()));
        platform::remember(memory);
    }
}
