//! What must be known before a turn may enter.

use rusqlite::OptionalExtension;

use super::rows;
use super::sessions::SESSION;
use super::{Store, StoreError};
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::session::Session;

/// Where a turn that wants to enter would come to stand.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The turn is stored already.
    pub known: bool,
    /// The row that it is sent to.
    pub row: Option<Session>,
}

impl Store {
    /// Looks a turn and the row that it is sent to up, on this thread.
    pub fn standing(&self, turn: &TurnId, session: &SessionId) -> Result<Standing, StoreError> {
        self.read(|connection| {
            let known = connection
                .prepare_cached("SELECT 1 FROM messages WHERE turn_id = ?1 AND role = 'user'")?
                .query_row([turn.as_str()], |_| Ok(()))
                .optional()?
                .is_some();
            let mut statement = connection.prepare_cached(SESSION)?;
            let mut found = statement.query([session.as_str()])?;
            let row = found.next()?.map(rows::session).transpose()?;
            Ok(Standing { known, row })
        })
    }
}
