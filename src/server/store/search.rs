//! What makes messages findable by their words; titles are kept findable by the database itself.

use rusqlite::{Transaction, params};

use super::StoreError;
use crate::domain::ids::{MessageId, SessionId};
use crate::domain::message::{Message, MessageState, Part, Role};

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
