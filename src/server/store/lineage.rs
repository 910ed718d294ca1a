//! Writes that tie rows of one conversation together.

use sqlx::query;

use super::messages::insert;
use super::rows;
use super::{Store, StoreError};
use crate::domain::ids::SessionId;
use crate::domain::message::Message;
use crate::domain::time::Timestamp;

impl Store {
    /// Finds the row that this one continues, if it continues one.
    pub(super) async fn earlier_part(
        &self,
        id: &SessionId,
    ) -> Result<Option<SessionId>, StoreError> {
        let row = query(
            "SELECT parent_session_id FROM sessions \
             WHERE session_id = $1 AND relation = 'continuation'",
        )
        .bind(id.as_str())
        .fetch_optional(&self.readers)
        .await?;
        row.map(|row| rows::required(&row, "parent_session_id")).transpose()
    }

    /// Turns a row into the record of an earlier part and creates the row that goes on from it,
    /// both or neither. The continuation begins with the given message and carries over title,
    /// folder, agent and what a person set.
    pub async fn compress_session(
        &self,
        snapshot: &SessionId,
        continuation: &SessionId,
        opening: &Message,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let mut transaction = self.writer.begin().await?;
        query(
            "INSERT INTO sessions (session_id, title, agent, workspace, parent_session_id, \
             relation, lineage_root_id, segment, preview, pinned, archived, created_at, \
             last_activity_at) \
             SELECT $2, title, agent, workspace, session_id, 'continuation', lineage_root_id, \
             segment + 1, preview, pinned, archived, $3, $3 FROM sessions WHERE session_id = $1",
        )
        .bind(snapshot.as_str())
        .bind(continuation.as_str())
        .bind(at.millis())
        .execute(&mut *transaction)
        .await?;
        query(
            "UPDATE sessions SET snapshot = 1, continuation_session_id = $2, milestone = NULL \
             WHERE session_id = $1",
        )
        .bind(snapshot.as_str())
        .bind(continuation.as_str())
        .execute(&mut *transaction)
        .await?;
        insert(&mut transaction, continuation, opening).await?;
        transaction.commit().await?;
        Ok(())
    }
}
