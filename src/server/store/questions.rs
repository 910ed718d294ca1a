//! Questions that outlived the server which asked them.

use sqlx::query;

use super::rows::{self, message_columns};
use super::{Store, StoreError};
use crate::domain::ids::SessionId;
use crate::domain::message::Message;

impl Store {
    /// Finds the answer of a session that waits for a person although its agent is gone.
    pub async fn waiting_answer(&self, id: &SessionId) -> Result<Option<Message>, StoreError> {
        let row = query(concat!(
            "SELECT ",
            message_columns!(),
            " FROM messages WHERE session_id = $1 AND state = 'waiting' \
             ORDER BY position DESC LIMIT 1"
        ))
        .bind(id.as_str())
        .fetch_optional(&mut *self.readers.lend().await?)
        .await?;
        row.as_ref().map(rows::message).transpose()
    }
}
