//! The outbox as the browser keeps it.

use gloo_storage::{LocalStorage, Storage};

use crate::wire::outbox::{KEY, OutboxTurn, PersistedOutboxV1, VERSION};

/// Reads what is stored; anything of another version or shape counts as nothing.
pub fn outbox() -> Vec<OutboxTurn> {
    let stored = LocalStorage::get::<PersistedOutboxV1>(KEY).ok();
    stored.filter(|stored| stored.version == VERSION).unwrap_or_default().turns
}

/// Changes what is stored. It is read anew each time, for another tab may have changed it.
pub fn change_outbox(change: impl FnOnce(&mut Vec<OutboxTurn>)) {
    let before = outbox();
    let mut turns = before.clone();
    change(&mut turns);
    if turns != before {
        // Storage may be full or forbidden; then the prompt lives as long as this page.
        let _ = LocalStorage::set(KEY, PersistedOutboxV1 { version: VERSION, turns });
    }
}
