//! What makes messages findable by their words; titles are kept findable by the database itself.

use sqlx::{Row, query};

use super::StoreError;
use super::writer::WriteTransaction;
use crate::domain::ids::{MessageId, SessionId};
use crate::domain::message::{Message, MessageState, Part, Role};

/// Makes a message that has come to its end findable by its words.
pub(super) async fn index(
    transaction: &mut WriteTransaction,
    session_id: &SessionId,
    message: &Message,
) -> Result<(), StoreError> {
    let words = words_of(message);
    if words.trim().is_empty() {
        return Ok(());
    }
    remove(transaction, session_id, &message.message_id).await?;
    let statement = query(
        "INSERT INTO search_entries (session_id, message_id) VALUES ($1, $2) RETURNING entry_id",
    )
    .bind(session_id.as_str())
    .bind(message.message_id.as_str());
    if let Some(entry) = transaction.fetch_optional(statement).await? {
        let entry_id: i64 = entry.try_get("entry_id")?;
        let statement =
            query("INSERT INTO search (rowid, words) VALUES ($1, $2)").bind(entry_id).bind(words);
        transaction.execute(statement).await?;
    }
    Ok(())
}

/// Removes a message from the search index.
pub(super) async fn remove(
    transaction: &mut WriteTransaction,
    session_id: &SessionId,
    message_id: &MessageId,
) -> Result<(), StoreError> {
    let statement = query("DELETE FROM search_entries WHERE session_id = $1 AND message_id = $2")
        .bind(session_id.as_str())
        .bind(message_id.as_str());
    transaction.execute(statement).await.map(drop)
}

/// Returns what people said and read; the summary that begins a continuation would only double it.
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
