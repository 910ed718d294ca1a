//! Queries on session rows.

use sqlx::query;

use super::rows::{self, session_columns, to_word};
use super::{Store, StoreError};
use crate::domain::ids::SessionId;
use crate::domain::session::{Milestone, Session};
use crate::domain::time::Timestamp;
use crate::wire::rest::SessionPatch;

/// One row by its id, unless it is deleted.
pub(super) const SESSION: &str = concat!(
    "SELECT ",
    session_columns!(),
    " FROM sessions AS session WHERE session.session_id = $1 AND session.deleted_at IS NULL"
);

impl Store {
    /// Adds a session row that starts a lineage of its own.
    pub async fn create_session(&self, session: &Session) -> Result<(), StoreError> {
        let statement = query(
            "INSERT INTO sessions (session_id, title, agent, workspace, lineage_root_id, named, \
             created_at, last_activity_at) VALUES ($1, $2, $3, $4, $1, $2 <> '', $5, $5)",
        )
        .bind(session.session_id.as_str())
        .bind(&session.title)
        .bind(&session.agent)
        .bind(&session.workspace)
        .bind(session.created_at.millis());
        self.execute(statement).await?;
        self.flush_wal().await
    }

    /// Tells whether a row is stored, deleted ones included.
    pub async fn has_session(&self, id: &SessionId) -> Result<bool, StoreError> {
        let statement = query("SELECT 1 FROM sessions WHERE session_id = $1").bind(id.as_str());
        Ok(self.read_optional(statement).await?.is_some())
    }

    pub async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        let statement = query(SESSION).bind(id.as_str());
        let row = self.read_optional(statement).await?;
        row.as_ref().map(rows::session).transpose()
    }

    /// Changes what a person may change; fields left out stay. Archiving concerns the whole
    /// conversation with its earlier parts. Gives the rows that were touched, none where there is
    /// no such session.
    pub async fn patch_session(
        &self,
        id: &SessionId,
        patch: &SessionPatch,
    ) -> Result<Vec<SessionId>, StoreError> {
        let statement = query(
            "UPDATE sessions SET title = CASE WHEN session_id = $1 THEN COALESCE($2, title) \
             ELSE title END, named = CASE WHEN session_id = $1 AND $2 IS NOT NULL THEN 1 \
             ELSE named END, pinned = CASE WHEN session_id = $1 THEN COALESCE($3, pinned) \
             ELSE pinned END, archived = COALESCE($4, archived) \
             WHERE deleted_at IS NULL AND (session_id = $1 OR ($4 IS NOT NULL \
             AND lineage_root_id = (SELECT known.lineage_root_id FROM sessions AS known \
             WHERE known.session_id = $1))) RETURNING session_id",
        )
        .bind(id.as_str())
        .bind(patch.title.as_deref())
        .bind(patch.pinned.map(i64::from))
        .bind(patch.archived.map(i64::from));
        let touched = self.execute(statement).await?.returned;
        self.flush_wal().await?;
        touched.iter().map(|row| rows::required(row, "session_id")).collect()
    }

    /// Records how a turn ended: what the list shows, if there is something new to show, and when.
    pub async fn record_end(
        &self,
        id: &SessionId,
        failed: bool,
        milestone: Milestone,
        preview: &str,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        let statement = query(
            "UPDATE sessions SET failed = $2, milestone = $3, \
             preview = COALESCE(NULLIF($4, ''), preview), last_activity_at = $5 \
             WHERE session_id = $1",
        )
        .bind(id.as_str())
        .bind(failed)
        .bind(to_word(&milestone)?)
        .bind(preview)
        .bind(at.millis());
        self.execute(statement).await.map(drop)
    }
}
