//! What a browser remembers of its work, under one key of its storage.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::domain::ids::SessionId;

pub const KEY: &str = "throughline.restore";

/// The shape that this version writes; one of another version is ignored.
pub const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PersistedRestoreV1 {
    pub version: u32,
    pub focused_session_id: Option<SessionId>,
    pub active_session_ids: Vec<SessionId>,
    pub drafts: BTreeMap<SessionId, String>,
    /// Milliseconds since 1970.
    pub saved_at: f64,
}

impl Default for PersistedRestoreV1 {
    fn default() -> Self {
        Self {
            version: VERSION,
            focused_session_id: None,
            active_session_ids: Vec::new(),
            drafts: BTreeMap::new(),
            saved_at: 0.0,
        }
    }
}
