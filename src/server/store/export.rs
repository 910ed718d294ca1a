//! Reads whole conversations, for those who take them elsewhere.

use sqlx::{Row, query};

use super::rows::{self, message_columns};
use super::{Store, StoreError};
use crate::domain::ids::SessionId;
use crate::domain::message::Message;

impl Store {
    /// Names some conversations by the root of their lineage, in order, after one of them.
    pub async fn lineage_roots(&self, after: &str, limit: u32) -> Result<Vec<String>, StoreError> {
        let found = query(
            "SELECT DISTINCT lineage_root_id FROM sessions WHERE lineage_root_id > $1 \
             AND deleted_at IS NULL ORDER BY lineage_root_id LIMIT $2",
        )
        .bind(after)
        .bind(i64::from(limit))
        .fetch_all(&mut *self.readers.lend().await?)
        .await?;
        found.iter().map(|row| Ok(row.try_get("lineage_root_id")?)).collect()
    }

    /// Reads all messages of one row, in reading order.
    pub async fn messages_of(&self, id: &SessionId) -> Result<Vec<Message>, StoreError> {
        let found = query(concat!(
            "SELECT ",
            message_columns!(),
            " FROM messages WHERE session_id = $1 ORDER BY position"
        ))
        .bind(id.as_str())
        .fetch_all(&mut *self.readers.lend().await?)
        .await?;
        found.iter().map(rows::message).collect()
    }
}
