//! What must be known before a turn may enter.

use rusqlite::OptionalExtension;

use super::lineage::LINEAGE_ROWS;
use super::rows;
use super::{Store, StoreError};
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::session::Session;

/// Where a turn that wants to enter would come to stand.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The turn is stored already.
    pub known: bool,
    /// The rows of the lineage that it is sent to.
    pub lineage: Vec<Session>,
}

impl Store {
    /// Looks a turn and the lineage of its session up, on this thread.
    pub fn standing(&self, turn: &TurnId, session: &SessionId) -> Result<Standing, StoreError> {
        self.read(|connection| {
            let known = connection
                .prepare_cached("SELECT 1 FROM messages WHERE turn_id = ?1 AND role = 'user'")?
                .query_row([turn.as_str()], |_| Ok(()))
                .optional()?
                .is_some();
            let mut statement = connection.prepare_cached(LINEAGE_ROWS)?;
            let mut found = statement.query([session.as_str()])?;
            let mut lineage = Vec::new();
            while let Some(row) = found.next()? {
                lineage.push(rows::session(row)?);
            }
            Ok(Standing { known, lineage })
        })
    }
}
