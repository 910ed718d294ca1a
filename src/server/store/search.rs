//! What makes messages findable by their words; titles are kept findable by the database itself.

use rusqlite::{Connection, Transaction, params, params_from_iter};

use super::rows::{self, message_columns};
use super::{Store, StoreError};
use crate::domain::ids::{MessageId, SessionId};
use crate::domain::message::{Message, MessageState, Part, Role};

/// The prompts that were stored and cannot be found yet.
const WAITING: &str =
    concat!("SELECT ", message_columns!(), " FROM messages WHERE unindexed = 1");
const WAITING_ONE: &str = concat!(
    "SELECT ",
    message_columns!(),
    " FROM messages WHERE unindexed = 1 AND message_id = ?1"
);

impl Store {
    /// Makes a stored prompt findable. A person does not wait for it, and a start makes up for
    /// what a crash left out.
    pub async fn index_prompt(&self, id: &MessageId) -> Result<(), StoreError> {
        self.write(|transaction| index_late(transaction, WAITING_ONE, &[id.as_str()])).await
    }

    /// Makes the prompts findable that a crash left out.
    pub async fn index_waiting(&self) -> Result<(), StoreError> {
        self.write(|transaction| index_late(transaction, WAITING, &[])).await
    }

    /// Lists the prompts that were stored and perhaps never taken up by their sessions.
    pub fn waiting_prompts(&self) -> Result<Vec<(SessionId, Message)>, StoreError> {
        self.read(|connection| found(connection, WAITING, &[]))
    }
}

fn found(
    connection: &Connection,
    statement: &str,
    ids: &[&str],
) -> Result<Vec<(SessionId, Message)>, StoreError> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut found = statement.query(params_from_iter(ids))?;
    let mut prompts = Vec::new();
    while let Some(row) = found.next()? {
        prompts.push((rows::required(row, "session_id")?, rows::message(row)?));
    }
    Ok(prompts)
}

fn index_late(
    transaction: &Transaction<'_>,
    statement: &str,
    ids: &[&str],
) -> Result<(), StoreError> {
    for (session_id, prompt) in found(transaction, statement, ids)? {
        index(transaction, &session_id, &prompt)?;
        transaction
            .prepare_cached("UPDATE messages SET unindexed = 0 WHERE message_id = ?1")?
            .execute([prompt.message_id.as_str()])?;
    }
    Ok(())
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
