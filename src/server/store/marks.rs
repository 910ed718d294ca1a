//! What people and their agents set on a session: deleted, unread, options, the agent's own names.

use std::collections::BTreeMap;

use sqlx::{Row, query};

use super::rows;
use super::{Store, StoreError};
use crate::domain::ids::SessionId;
use crate::domain::time::Timestamp;

impl Store {
    /// Marks a whole conversation, all of its parts, as deleted at a time, or takes the mark away.
    /// Gives the parts whose mark changed.
    pub async fn mark_deleted(
        &self,
        id: &SessionId,
        deleted_at: Option<Timestamp>,
    ) -> Result<Vec<SessionId>, StoreError> {
        let statement = query(
            "UPDATE sessions SET deleted_at = $2 WHERE lineage_root_id = (SELECT \
             known.lineage_root_id FROM sessions AS known WHERE known.session_id = $1) \
             AND (deleted_at IS NULL) = ($2 IS NOT NULL) RETURNING session_id",
        )
        .bind(id.as_str())
        .bind(deleted_at.map(|at| at.millis()));
        let changed = self.execute(statement).await?.returned;
        self.flush_wal().await?;
        changed.iter().map(|row| rows::required(row, "session_id")).collect()
    }

    /// Names what was deleted before a time.
    pub async fn deleted_before(&self, before: Timestamp) -> Result<Vec<SessionId>, StoreError> {
        let statement =
            query("SELECT session_id FROM sessions WHERE deleted_at < $1").bind(before.millis());
        let found = self.read_all(statement).await?;
        found.iter().map(|row| rows::required(row, "session_id")).collect()
    }

    /// Removes for good what was deleted before a time.
    pub async fn purge_deleted(&self, before: Timestamp) -> Result<(), StoreError> {
        let statement = query("DELETE FROM sessions WHERE deleted_at < $1").bind(before.millis());
        self.execute(statement).await.map(drop)
    }

    /// Tells whether the mark changed.
    pub async fn mark_unread(&self, id: &SessionId, unread: bool) -> Result<bool, StoreError> {
        let statement =
            query("UPDATE sessions SET unread = $2 WHERE session_id = $1 AND unread <> $2")
                .bind(id.as_str())
                .bind(unread);
        Ok(self.execute(statement).await?.changed > 0)
    }

    /// Keeps what a person set for the agent.
    pub async fn set_option(
        &self,
        id: &SessionId,
        name: &str,
        value: &str,
    ) -> Result<(), StoreError> {
        let mut options = self.options(id).await?;
        options.insert(name.to_owned(), value.to_owned());
        let statement = query("UPDATE sessions SET options = $2 WHERE session_id = $1")
            .bind(id.as_str())
            .bind(rows::to_json(&options)?);
        self.execute(statement).await.map(drop)
    }

    /// Reads what a person set for the agent.
    pub async fn options(&self, id: &SessionId) -> Result<BTreeMap<String, String>, StoreError> {
        let statement =
            query("SELECT options FROM sessions WHERE session_id = $1").bind(id.as_str());
        let row = self.read_optional(statement).await?;
        match row {
            Some(row) => rows::from_json("options", row.try_get("options")?),
            None => Ok(BTreeMap::new()),
        }
    }

    /// Keeps the agent's own name for the conversation.
    pub async fn set_agent_session(&self, id: &SessionId, name: &str) -> Result<(), StoreError> {
        let statement = query("UPDATE sessions SET agent_session = $2 WHERE session_id = $1")
            .bind(id.as_str())
            .bind(name);
        self.execute(statement).await.map(drop)
    }

    /// Reads the agent's own name for the conversation.
    pub async fn agent_session(&self, id: &SessionId) -> Result<Option<String>, StoreError> {
        let statement =
            query("SELECT agent_session FROM sessions WHERE session_id = $1").bind(id.as_str());
        let row = self.read_optional(statement).await?;
        Ok(row.map(|row| row.try_get("agent_session")).transpose()?.flatten())
    }

    /// Gives a session the title that its agent proposes, unless a person named it. Tells whether
    /// the title changed.
    pub async fn propose_title(&self, id: &SessionId, title: &str) -> Result<bool, StoreError> {
        let statement = query(
            "UPDATE sessions SET title = $2 WHERE session_id = $1 AND named = 0 AND title <> $2",
        )
        .bind(id.as_str())
        .bind(title);
        Ok(self.execute(statement).await?.changed > 0)
    }
}
