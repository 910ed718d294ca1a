//! What makes messages findable by their words; titles are kept findable by the database itself.

use sqlx::{Sqlite, Transaction, query};

use super::StoreError;
use crate::domain::ids::SessionId;
use crate::domain::message::{Message, MessageState, Part, Role};

/// Makes a message that has come to its end findable by its words.
pub(super) async fn index(
    transaction: &mut Transaction<'_, Sqlite>,
    session_id: &SessionId,
    message: &Message,
) -> Result<(), StoreError> {
    let words = words_of(message);
    if words.trim().is_empty() {
        return Ok(());
    }
    query("DELETE FROM search_entries WHERE session_id = $1 AND message_id = $2")
        .bind(session_id.as_str())
        .bind(message.message_id.as_str())
        .execute(&mut **transaction)
        .await?;
    let made = query("INSERT INTO search_entries (session_id, message_id) VALUES ($1, $2)")
        .bind(session_id.as_str())
        .bind(message.message_id.as_str())
        .execute(&mut **transaction)
        .await?;
    query("INSERT INTO search (rowid, words) VALUES ($1, $2)")
        .bind(made.last_insert_rowid())
        .bind(words)
        .execute(&mut **transaction)
        .await?;
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
