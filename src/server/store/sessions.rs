//! Queries on session rows.

use std::str::FromStr;

use sqlx::query;

use super::rows::{self, session_columns, to_word};
use super::{Store, StoreError};
use crate::domain::ids::SessionId;
use crate::domain::session::{Milestone, Session};
use crate::domain::time::Timestamp;
use crate::wire::rest::SessionPatch;

/// Which rows a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListView {
    /// What ordinary navigation can open.
    Visible,
    /// Every row, records of earlier parts and archived ones included.
    All,
}

/// The place in the list after which the next page begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListCursor {
    pub last_activity_at: Timestamp,
    pub created_at: Timestamp,
    pub session_id: SessionId,
}

impl ListCursor {
    pub fn after(session: &Session) -> Self {
        Self {
            last_activity_at: session.last_activity_at,
            created_at: session.created_at,
            session_id: session.session_id.clone(),
        }
    }
}

impl std::fmt::Display for ListCursor {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { last_activity_at, created_at, session_id } = self;
        write!(formatter, "{}.{}.{session_id}", last_activity_at.millis(), created_at.millis())
    }
}

impl FromStr for ListCursor {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut fields = text.splitn(3, '.');
        let mut time = || {
            let millis = fields.next().and_then(|field| field.parse().ok()).ok_or(())?;
            Ok(Timestamp::from_millis(millis))
        };
        let (last_activity_at, created_at) = (time()?, time()?);
        let session_id = SessionId::parse(fields.next().ok_or(())?).map_err(|_| ())?;
        Ok(Self { last_activity_at, created_at, session_id })
    }
}

impl Store {
    /// Adds a session row that starts a lineage of its own.
    pub async fn create_session(&self, session: &Session) -> Result<(), StoreError> {
        query(
            "INSERT INTO sessions (session_id, title, agent, workspace, lineage_root_id, named, \
             created_at, last_activity_at) VALUES ($1, $2, $3, $4, $1, $2 <> '', $5, $5)",
        )
        .bind(session.session_id.as_str())
        .bind(&session.title)
        .bind(&session.agent)
        .bind(&session.workspace)
        .bind(session.created_at.millis())
        .execute(&mut *self.writer.lend().await?)
        .await?;
        self.settle().await
    }

    /// Tells whether a row is stored, deleted ones included.
    pub async fn has_session(&self, id: &SessionId) -> Result<bool, StoreError> {
        let row = query("SELECT 1 FROM sessions WHERE session_id = $1")
            .bind(id.as_str())
            .fetch_optional(&mut *self.readers.lend().await?)
            .await?;
        Ok(row.is_some())
    }

    pub async fn session(&self, id: &SessionId) -> Result<Option<Session>, StoreError> {
        let row = query(concat!(
            "SELECT ",
            session_columns!(),
            " FROM sessions AS session WHERE session.session_id = $1 AND session.deleted_at IS NULL"
        ))
        .bind(id.as_str())
        .fetch_optional(&mut *self.readers.lend().await?)
        .await?;
        row.as_ref().map(rows::session).transpose()
    }

    /// Reads one page of the list, newest activity first.
    pub async fn list_sessions(
        &self,
        view: ListView,
        after: Option<&ListCursor>,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError> {
        let newest = ListCursor {
            last_activity_at: Timestamp::MAX,
            created_at: Timestamp::MAX,
            session_id: SessionId::parse("z").map_err(|error| StoreError::Corrupt {
                what: "session_id",
                reason: error.to_string(),
            })?,
        };
        let after = after.unwrap_or(&newest);
        let statement = match view {
            ListView::Visible => concat!(
                "SELECT ",
                session_columns!(),
                " FROM sessions AS session WHERE session.snapshot = 0 AND session.archived = 0 \
                 AND session.deleted_at IS NULL \
                 AND (session.last_activity_at, session.created_at, session.session_id) \
                 < ($1, $2, $3) ORDER BY session.last_activity_at DESC, \
                 session.created_at DESC, session.session_id DESC LIMIT $4"
            ),
            ListView::All => concat!(
                "SELECT ",
                session_columns!(),
                " FROM sessions AS session WHERE session.deleted_at IS NULL \
                 AND (session.last_activity_at, session.created_at, session.session_id) \
                 < ($1, $2, $3) ORDER BY session.last_activity_at DESC, \
                 session.created_at DESC, session.session_id DESC LIMIT $4"
            ),
        };
        let found = query(statement)
            .bind(after.last_activity_at.millis())
            .bind(after.created_at.millis())
            .bind(after.session_id.as_str())
            .bind(i64::from(limit))
            .fetch_all(&mut *self.readers.lend().await?)
            .await?;
        found.iter().map(rows::session).collect()
    }

    /// Changes what a person may change; fields left out stay. Tells whether the row exists.
    pub async fn patch_session(
        &self,
        id: &SessionId,
        patch: &SessionPatch,
    ) -> Result<bool, StoreError> {
        let done = query(
            "UPDATE sessions SET title = COALESCE($2, title), \
             named = CASE WHEN $2 IS NULL THEN named ELSE 1 END, pinned = COALESCE($3, pinned), \
             archived = COALESCE($4, archived) WHERE session_id = $1",
        )
        .bind(id.as_str())
        .bind(patch.title.as_deref())
        .bind(patch.pinned.map(i64::from))
        .bind(patch.archived.map(i64::from))
        .execute(&mut *self.writer.lend().await?)
        .await?;
        self.settle().await?;
        Ok(done.rows_affected() > 0)
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
        query(
            "UPDATE sessions SET failed = $2, milestone = $3, \
             preview = COALESCE(NULLIF($4, ''), preview), last_activity_at = $5 \
             WHERE session_id = $1",
        )
        .bind(id.as_str())
        .bind(i64::from(failed))
        .bind(to_word(&milestone)?)
        .bind(preview)
        .bind(at.millis())
        .execute(&mut *self.writer.lend().await?)
        .await?;
        Ok(())
    }
}
