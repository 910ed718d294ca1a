//! Pages of the session list, newest activity first.

use std::fmt;
use std::str::FromStr;

use sqlx::{Row, query};

use super::rows::{self, session_columns};
use super::{Store, StoreError};
use crate::domain::ids::SessionId;
use crate::domain::session::Session;
use crate::domain::time::Timestamp;
use crate::wire::list::{ListView, ViewCounts};

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

impl fmt::Display for ListCursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
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

/// Makes the statement for a page of the rows that a condition names; its index must order them.
macro_rules! page_of {
    ($condition:literal) => {
        concat!(
            "SELECT ",
            session_columns!(),
            " FROM sessions AS session WHERE ",
            $condition,
            " AND (session.last_activity_at, session.created_at, session.session_id) \
             < ($1, $2, $3) ORDER BY session.last_activity_at DESC, session.created_at DESC, \
             session.session_id DESC LIMIT $4"
        )
    };
}

pub(super) const LEAVES: &str = page_of!("session.is_leaf = 1");
pub(super) const FORK_POINTS: &str = page_of!("session.is_fork_point = 1");
pub(super) const VISIBLE: &str =
    page_of!("session.snapshot = 0 AND session.archived = 0 AND session.deleted_at IS NULL");
pub(super) const ARCHIVED: &str =
    page_of!("session.snapshot = 0 AND session.archived = 1 AND session.deleted_at IS NULL");
pub(super) const ALL: &str = page_of!("session.deleted_at IS NULL");
pub(super) const TOPS: &str = page_of!("session.top = 1 AND session.deleted_at IS NULL");
pub(super) const PINNED: &str = page_of!("session.pinned = 1 AND session.is_visible = 1");

impl Store {
    /// Reads one page of a view.
    pub async fn list_sessions(
        &self,
        view: ListView,
        after: Option<&ListCursor>,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError> {
        let statement = match view {
            ListView::Leaves => LEAVES,
            ListView::Visible => VISIBLE,
            ListView::All => ALL,
            ListView::Archived => ARCHIVED,
        };
        self.page(statement, after, limit).await
    }

    /// Reads one page of the rows that more than one branch goes on from, or another conversation
    /// was branched off.
    pub async fn fork_points(
        &self,
        after: Option<&ListCursor>,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError> {
        self.page(FORK_POINTS, after, limit).await
    }

    /// Reads one page of the rows that hang on no present row.
    pub async fn tops(
        &self,
        after: Option<&ListCursor>,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError> {
        self.page(TOPS, after, limit).await
    }

    /// Reads what is pinned.
    pub async fn pinned(&self, limit: u32) -> Result<Vec<Session>, StoreError> {
        self.page(PINNED, None, limit).await
    }

    /// Tells how many rows each view has.
    pub async fn view_counts(&self) -> Result<ViewCounts, StoreError> {
        let row = query("SELECT leaves, visible, archived, present FROM session_counts")
            .fetch_one(&mut *self.readers.acquire().await?)
            .await?;
        Ok(ViewCounts {
            leaves: row.try_get("leaves")?,
            visible: row.try_get("visible")?,
            archived: row.try_get("archived")?,
            all: row.try_get("present")?,
        })
    }

    async fn page(
        &self,
        statement: &'static str,
        after: Option<&ListCursor>,
        limit: u32,
    ) -> Result<Vec<Session>, StoreError> {
        // No row is as late as this, so that the id does not matter.
        let latest = i64::MAX;
        let statement = query(statement)
            .bind(after.map_or(latest, |cursor| cursor.last_activity_at.millis()))
            .bind(after.map_or(latest, |cursor| cursor.created_at.millis()))
            .bind(after.map_or("", |cursor| cursor.session_id.as_str()))
            .bind(i64::from(limit));
        rows::sessions(&self.read_all(statement).await?)
    }
}
