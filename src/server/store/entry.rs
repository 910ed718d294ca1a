//! What must be known before a turn may enter.

use rusqlite::OptionalExtension;

use super::{Store, StoreError};
use crate::domain::ids::{SessionId, TurnId};

/// Where a turn that wants to enter would come to stand. A person waits for it, so it is read with
/// one statement that touches few pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The turn is stored already.
    pub known: bool,
    /// The row that it is sent to is the record of an earlier part.
    pub snapshot: bool,
    pub workspace: String,
}

impl Store {
    /// Looks a turn and the row that it is sent to up, on this thread; there may be no such row.
    pub fn standing(
        &self,
        turn: &TurnId,
        session: &SessionId,
    ) -> Result<Option<Standing>, StoreError> {
        self.read_warm(|connection| {
            let found = connection
                .prepare_cached(
                    "SELECT EXISTS (SELECT 1 FROM messages WHERE turn_id = ?1 AND role = 'user'), \
                     snapshot, workspace FROM sessions \
                     WHERE session_id = ?2 AND deleted_at IS NULL",
                )?
                .query_row([turn.as_str(), session.as_str()], |row| {
                    Ok(Standing {
                        known: row.get(0)?,
                        snapshot: row.get(1)?,
                        workspace: row.get(2)?,
                    })
                })
                .optional()?;
            Ok(found)
        })
    }
}
