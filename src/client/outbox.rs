//! The outbox as the browser keeps it.

use gloo_storage::{LocalStorage, Storage};

use crate::wire::outbox::{KEY, OutboxTurn, PersistedOutboxV1, VERSION};

/// Reads what is stored; anything of another version or shape counts as nothing.
pub fn outbox() -> Vec<OutboxTurn> {
    let stored = LocalStorage::get::<PersistedOutboxV1>(KEY).ok();
    stored.filter(|stored| stored.version == VERSION).unwrap_or_default().turns
}

/// Changes what is stored, and tells whether that could be stored: storage may be full or forbidden.
/// It is read again each time, for another tab may have changed it.
pub fn change_outbox(change: impl FnOnce(&mut Vec<OutboxTurn>)) -> bool {
    let before = outbox();
    let mut turns = before.clone();
    change(&mut turns);
    turns == before || LocalStorage::set(KEY, PersistedOutboxV1 { version: VERSION, turns }).is_ok()
}
