//! What the browser keeps for the next visit.

use gloo_storage::{LocalStorage, Storage};

use crate::wire::restore::{KEY, PersistedRestoreV1, VERSION};

/// Reads what was remembered; anything of another version or shape counts as nothing.
pub fn remembered() -> PersistedRestoreV1 {
    let stored = LocalStorage::get::<PersistedRestoreV1>(KEY).ok();
    stored.filter(|stored| stored.version == VERSION).unwrap_or_default()
}

pub fn remember(mut restore: PersistedRestoreV1) {
    restore.saved_at = js_sys::Date::now();
    // Storage may be full or forbidden; then the next visit starts at the list.
    let _ = LocalStorage::set(KEY, restore);
}
