//! Writes that tie rows of one conversation together.

use rusqlite::params;
use sqlx::query;

use super::messages::insert;
use super::rows::{self, session_columns};
use super::{Store, StoreError};
use crate::domain::ids::SessionId;
use crate::domain::message::Message;
use crate::domain::session::Session;
use crate::domain::time::Timestamp;

impl Store {
    /// Reads the rows of one lineage, and those that name an id which is not stored as their parent
    /// or root. No other row is touched.
    pub async fn lineage_rows(&self, id: &SessionId) -> Result<Vec<Session>, StoreError> {
        let found = query(concat!(
            "SELECT ",
            session_columns!(),
            " FROM sessions AS session WHERE session.deleted_at IS NULL \
             AND session.lineage_root_id = COALESCE( \
             (SELECT known.lineage_root_id FROM sessions AS known \
             WHERE known.session_id = $1), $1) \
             UNION SELECT ",
            session_columns!(),
            " FROM sessions AS session WHERE session.parent_session_id = $1 \
             AND session.deleted_at IS NULL"
        ))
        .bind(id.as_str())
        .fetch_all(&mut *self.readers.lend().await?)
        .await?;
        rows::sessions(&found)
    }

    /// Reads the branches of every part of a lineage, oldest first.
    pub async fn forks_of_lineage(&self, root: &SessionId) -> Result<Vec<Session>, StoreError> {
        let found = query(concat!(
            "SELECT ",
            session_columns!(),
            " FROM sessions AS session WHERE session.relation = 'fork' \
             AND session.deleted_at IS NULL \
             AND session.parent_session_id IN (SELECT part.session_id FROM sessions AS part \
             WHERE part.lineage_root_id = $1) ORDER BY session.created_at, session.session_id"
        ))
        .bind(root.as_str())
        .fetch_all(&mut *self.readers.lend().await?)
        .await?;
        rows::sessions(&found)
    }

    /// Branches a conversation off: a new row with the messages up to one of them, or all, that
    /// starts a lineage of its own.
    pub async fn fork_session(
        &self,
        parent: &SessionId,
        fork: &Session,
        copies: &[Message],
    ) -> Result<(), StoreError> {
        self.write(|transaction| {
            transaction
                .prepare_cached(
                    "INSERT INTO sessions (session_id, title, agent, workspace, \
                     parent_session_id, relation, lineage_root_id, preview, options, named, \
                     created_at, last_activity_at) \
                     SELECT ?1, ?2, ?3, ?4, ?5, 'fork', ?1, ?6, options, named, ?7, ?7 \
                     FROM sessions WHERE session_id = ?5",
                )?
                .execute(params![
                    fork.session_id.as_str(),
                    fork.title,
                    fork.agent,
                    fork.workspace,
                    parent.as_str(),
                    fork.preview,
                    fork.created_at.millis(),
                ])?;
            for copy in copies {
                insert(transaction, &fork.session_id, copy)?;
            }
            Ok(())
        })
        .await?;
        self.settle().await
    }

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
        .fetch_optional(&mut *self.readers.lend().await?)
        .await?;
        row.map(|row| rows::required(&row, "parent_session_id")).transpose()
    }

    /// Turns a row into the record of an earlier part and creates the row that goes on from it,
    /// both or neither. The continuation begins with the given message and carries over title,
    /// folder, agent, the agent's own name for it and what a person set.
    pub async fn compress_session(
        &self,
        snapshot: &SessionId,
        continuation: &SessionId,
        opening: &Message,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(|transaction| {
            transaction
                .prepare_cached(
                    "INSERT INTO sessions (session_id, title, agent, workspace, \
                     parent_session_id, relation, lineage_root_id, segment, preview, unread, \
                     options, agent_session, named, pinned, archived, created_at, \
                     last_activity_at) \
                     SELECT ?2, title, agent, workspace, session_id, 'continuation', \
                     lineage_root_id, segment + 1, preview, unread, options, agent_session, \
                     named, pinned, archived, ?3, ?3 FROM sessions WHERE session_id = ?1",
                )?
                .execute(params![snapshot.as_str(), continuation.as_str(), at.millis()])?;
            transaction
                .prepare_cached(
                    "UPDATE sessions SET snapshot = 1, continuation_session_id = ?2, \
                     milestone = NULL, unread = 0 WHERE session_id = ?1",
                )?
                .execute([snapshot.as_str(), continuation.as_str()])?;
            insert(transaction, continuation, opening)?;
            Ok(())
        })
        .await?;
        self.settle().await
    }
}
