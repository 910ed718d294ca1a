//! What hangs on what: children, trees, and cycles that bad data brought in.

use sqlx::{Row, query};

use super::list::ListCursor;
use super::rows::{self, session_columns, to_json};
use super::{Store, StoreError};
use crate::domain::ids::SessionId;
use crate::domain::session::Session;

pub(super) const CHILDREN: &str = concat!(
    "SELECT ",
    session_columns!(),
    " FROM sessions AS session WHERE session.parent_session_id = $1 AND session.cyclic = 0 \
     AND session.deleted_at IS NULL AND (session.created_at, session.session_id) > ($2, $3) \
     ORDER BY session.created_at, session.session_id LIMIT $4"
);

/// Edges of cycles are left out, so that this ends; the depth ends it where one came in meanwhile.
pub(super) const BELOW: &str = concat!(
    "WITH RECURSIVE below (session_id, depth) AS ( \
     SELECT value, 0 FROM json_each($1) \
     UNION ALL SELECT child.session_id, below.depth + 1 FROM below \
     JOIN sessions AS child ON child.parent_session_id = below.session_id \
     WHERE below.depth < $2 AND child.cyclic = 0 AND child.deleted_at IS NULL \
     ORDER BY 2 LIMIT $3) SELECT ",
    session_columns!(),
    ", below.depth FROM below CROSS JOIN sessions AS session \
     ON session.session_id = below.session_id WHERE session.deleted_at IS NULL"
);

/// In a cycle one row at least is no younger than its parent. From each such row the climb goes up
/// until it ends or comes back.
const MISMARKED: &str = "WITH RECURSIVE climb (start, here) AS ( \
     SELECT child.session_id, child.parent_session_id FROM sessions AS child \
     JOIN sessions AS parent ON parent.session_id = child.parent_session_id \
     WHERE (child.created_at, child.session_id) <= (parent.created_at, parent.session_id) \
     UNION SELECT climb.start, above.parent_session_id FROM climb \
     JOIN sessions AS above ON above.session_id = climb.here \
     WHERE climb.here <> climb.start AND above.parent_session_id IS NOT NULL), \
     circle (session_id) AS (SELECT here FROM climb WHERE start IN ( \
     SELECT start FROM climb WHERE here = start)) \
     SELECT session_id FROM sessions \
     WHERE cyclic <> (session_id IN (SELECT session_id FROM circle))";

impl Store {
    /// Reads one page of the rows that hang on a row, oldest first.
    pub async fn children(
        &self,
        parent: &SessionId,
        after: Option<&ListCursor>,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError> {
        let statement = query(CHILDREN)
            .bind(parent.as_str())
            .bind(after.map_or(i64::MIN, |cursor| cursor.created_at.millis()))
            .bind(after.map_or("", |cursor| cursor.session_id.as_str()))
            .bind(i64::from(limit));
        rows::sessions(&self.read_all(statement).await?)
    }

    /// Reads the rows below some, and these themselves, generation by generation, each with the
    /// number of its generation.
    pub async fn rows_below(
        &self,
        tops: &[SessionId],
        max_depth: u32,
        limit: u32,
    ) -> Result<Vec<(Session, u32)>, StoreError> {
        let statement =
            query(BELOW).bind(to_json(&tops)?).bind(i64::from(max_depth)).bind(i64::from(limit));
        let found = self.read_all(statement).await?;
        found.iter().map(|row| Ok((rows::session(row)?, row.try_get("depth")?))).collect()
    }

    /// Names the rows that some rows hang on.
    pub async fn parents_of(&self, ids: &[SessionId]) -> Result<Vec<SessionId>, StoreError> {
        let statement = query(
            "SELECT DISTINCT session.parent_session_id FROM json_each($1) AS given \
             CROSS JOIN sessions AS session ON session.session_id = given.value \
             WHERE session.parent_session_id IS NOT NULL",
        )
        .bind(to_json(&ids)?);
        let found = self.read_all(statement).await?;
        found.iter().map(|row| rows::required(row, "parent_session_id")).collect()
    }

    /// Marks the edges that are part of a cycle, so that they hide nobody. The server itself makes
    /// none; whatever writes rows with parents of its own choice must call this afterwards.
    pub async fn mark_cycles(&self) -> Result<(), StoreError> {
        let found = self.read_all(query(MISMARKED)).await?;
        if found.is_empty() {
            return Ok(());
        }
        tracing::warn!(rows = found.len(), "sessions hang on each other, or no longer do");
        let ids: Vec<String> =
            found.iter().map(|row| row.try_get("session_id")).collect::<Result<_, _>>()?;
        let statement = query(
            "UPDATE sessions SET cyclic = 1 - cyclic \
             WHERE session_id IN (SELECT value FROM json_each($1))",
        )
        .bind(to_json(&ids)?);
        self.execute(statement).await.map(drop)
    }
}
