//! Writes that tie rows of one conversation together.

use futures::FutureExt;
use sqlx::{Row, query};

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
        let statement = query(concat!(
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
        .bind(id.as_str());
        rows::sessions(&self.read_all(statement).await?)
    }

    /// Reads the branches of every part of a lineage, oldest first.
    pub async fn forks_of_lineage(&self, root: &SessionId) -> Result<Vec<Session>, StoreError> {
        let statement = query(concat!(
            "SELECT ",
            session_columns!(),
            " FROM sessions AS session WHERE session.relation = 'fork' \
             AND session.deleted_at IS NULL \
             AND session.parent_session_id IN (SELECT part.session_id FROM sessions AS part \
             WHERE part.lineage_root_id = $1) ORDER BY session.created_at, session.session_id"
        ))
        .bind(root.as_str());
        rows::sessions(&self.read_all(statement).await?)
    }

    /// Names some conversations by the root of their lineage, in order, after one of them.
    pub async fn lineage_roots(&self, after: &str, limit: u32) -> Result<Vec<String>, StoreError> {
        let statement = query(
            "SELECT DISTINCT lineage_root_id FROM sessions WHERE lineage_root_id > $1 \
             AND deleted_at IS NULL ORDER BY lineage_root_id LIMIT $2",
        )
        .bind(after)
        .bind(i64::from(limit));
        let found = self.read_all(statement).await?;
        found.iter().map(|row| Ok(row.try_get("lineage_root_id")?)).collect()
    }

    /// Branches a conversation off: a new row with the messages up to one of them, or all, that
    /// starts a lineage of its own.
    pub async fn fork_session(
        &self,
        parent: &SessionId,
        fork: &Session,
        copies: &[Message],
    ) -> Result<(), StoreError> {
        let statement = query(
            "INSERT INTO sessions (session_id, title, agent, workspace, parent_session_id, \
             relation, lineage_root_id, preview, options, named, created_at, last_activity_at) \
             SELECT $1, $2, $3, $4, $5, 'fork', $1, $6, options, named, $7, $7 \
             FROM sessions WHERE session_id = $5",
        )
        .bind(fork.session_id.as_str())
        .bind(&fork.title)
        .bind(&fork.agent)
        .bind(&fork.workspace)
        .bind(parent.as_str())
        .bind(&fork.preview)
        .bind(fork.created_at.millis());
        let (fork_id, copies) = (fork.session_id.clone(), copies.to_vec());
        self.write(|transaction| {
            async move {
                transaction.execute(statement).await?;
                for copy in &copies {
                    insert(transaction, &fork_id, copy).await?;
                }
                Ok(())
            }
            .boxed()
        })
        .await?;
        self.flush_wal().await
    }

    /// Finds the row that this one continues, if it continues one.
    pub(super) async fn earlier_part(
        &self,
        id: &SessionId,
    ) -> Result<Option<SessionId>, StoreError> {
        let statement = query(
            "SELECT parent_session_id FROM sessions \
             WHERE session_id = $1 AND relation = 'continuation'",
        )
        .bind(id.as_str());
        let row = self.read_optional(statement).await?;
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
        let create = query(
            "INSERT INTO sessions (session_id, title, agent, workspace, parent_session_id, \
             relation, lineage_root_id, segment, preview, unread, options, agent_session, named, \
             pinned, archived, created_at, last_activity_at) \
             SELECT $2, title, agent, workspace, session_id, 'continuation', lineage_root_id, \
             segment + 1, preview, unread, options, agent_session, named, pinned, archived, $3, $3 \
             FROM sessions WHERE session_id = $1",
        )
        .bind(snapshot.as_str())
        .bind(continuation.as_str())
        .bind(at.millis());
        let mark = query(
            "UPDATE sessions SET snapshot = 1, continuation_session_id = $2, milestone = NULL, \
             unread = 0 WHERE session_id = $1",
        )
        .bind(snapshot.as_str())
        .bind(continuation.as_str());
        let (continuation, opening) = (continuation.clone(), opening.clone());
        self.write(|transaction| {
            async move {
                transaction.execute(create).await?;
                transaction.execute(mark).await?;
                insert(transaction, &continuation, &opening).await?;
                Ok(())
            }
            .boxed()
        })
        .await?;
        self.flush_wal().await
    }
}
