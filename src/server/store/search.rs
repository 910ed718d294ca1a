//! What makes messages findable by their words; titles are kept findable by the database itself.

use rusqlite::{Transaction, params};

use super::rows::{self, message_columns};
use super::{Store, StoreError};
use crate::domain::ids::{MessageId, SessionId};
use crate::domain::message::{Message, MessageState, Part, Role};

impl Store {
    /// Makes the prompts findable that were stored since the last call. A person does not wait for
    /// it, and a start makes up for what a crash left out.
    pub async fn index_waiting(&self) -> Result<(), StoreError> {
        self.write(|transaction| {
            let mut statement = transaction.prepare_cached(concat!(
                "SELECT ",
                message_columns!(),
                " FROM messages WHERE unindexed = 1"
            ))?;
            let mut waiting = statement.query([])?;
            while let Some(row) = waiting.next()? {
                index(transaction, &rows::required(row, "session_id")?, &rows::message(row)?)?;
            }
            transaction
                .prepare_cached("UPDATE messages SET unindexed = 0 WHERE unindexed = 1")?
                .execute([])?;
            Ok(())
        })
        .await
    }
}

/// Makes a message that has come to its end findable by its words.
pub(super) fn index(
    transaction: &Transaction<'_>,
    session_id: &SessionId,
    message: &Message,
) -> Result<(), StoreError> {
    let words = words_of(message);
    if words.trim().is_empty() {
        return Ok(());
    }
    forget(transaction, session_id.as_str(), &message.message_id)?;
    transaction
        .prepare_cached("INSERT INTO search_entries (session_id, message_id) VALUES (?1, ?2)")?
        .execute([session_id.as_str(), message.message_id.as_str()])?;
    transaction
        .prepare_cached("INSERT INTO search (rowid, words) VALUES (?1, ?2)")?
        .execute(params![transaction.last_insert_rowid(), words])?;
    Ok(())
}

/// Makes a message unfindable.
pub(super) fn forget(
    transaction: &Transaction<'_>,
    session_id: &str,
    message_id: &MessageId,
) -> Result<(), StoreError> {
    transaction
        .prepare_cached("DELETE FROM search_entries WHERE session_id = ?1 AND message_id = ?2")?
        .execute([session_id, message_id.as_str()])?;
    Ok(())
}

/// Gives what people said and read; the summary that begins a continuation would only double it.
fn words_of(message: &Message) -> String {
    if message.state == MessageState::Streaming || message.role == Role::System {
        return String::new();
    }
    let words: Vec<_> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            Part::Attachment(file) => Some(file.name.as_str()),
            _ => None,
        })
        .collect();
    words.join("\n")
}
