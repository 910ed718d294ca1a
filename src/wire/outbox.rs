//! What a browser keeps of prompts that the server has not acknowledged yet.

use serde::{Deserialize, Serialize};

use crate::domain::ids::{SessionId, TurnId};
use crate::domain::message::Attachment;

pub const KEY: &str = "throughline.outbox";

/// The shape that this version writes; one of another version is left alone.
pub const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PersistedOutboxV1 {
    pub version: u32,
    pub turns: Vec<OutboxTurn>,
}

impl Default for PersistedOutboxV1 {
    fn default() -> Self {
        Self { version: VERSION, turns: Vec::new() }
    }
}

/// One press of Send, under the id that it keeps on all of its ways.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OutboxTurn {
    pub turn_id: TurnId,
    pub session_id: SessionId,
    pub content: String,
    #[serde(default)]
    pub attachments: Vec<Attachment>,
}
