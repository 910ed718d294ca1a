//! Writes of messages, on the thread that asks.

use rusqlite::{OptionalExtension, Transaction, params};

use crate::domain::ids::{MessageId, SessionId, TurnId};
use crate::domain::message::Message;
use crate::server::store::rows::{to_json, to_word};
use crate::server::store::search::{forget, index};
use crate::server::store::{Store, StoreError};

impl Store {
    /// Writes a message as it stands now, new or known.
    pub async fn save_message(
        &self,
        session_id: &SessionId,
        message: &Message,
    ) -> Result<(), StoreError> {
        self.write(|transaction| {
            if insert(transaction, session_id, message)? {
                return Ok(());
            }
            transaction
                .prepare_cached(
                    "UPDATE messages SET state = ?2, parts = ?3, usage = ?4, ended_at = ?5 \
                     WHERE message_id = ?1",
                )?
                .execute(params![
                    message.message_id.as_str(),
                    to_word(&message.state)?,
                    to_json(&message.parts)?,
                    message.usage.as_ref().map(to_json).transpose()?,
                    message.ended_at.map(|at| at.millis()),
                ])?;
            index(transaction, session_id, message)
        })
        .await
    }

    /// Removes a message and everything that finds it.
    pub async fn remove_message(&self, message_id: &MessageId) -> Result<(), StoreError> {
        self.write(|transaction| {
            let removed: Option<(String, bool)> = transaction
                .prepare_cached(
                    "DELETE FROM messages WHERE message_id = ?1 RETURNING session_id, unindexed",
                )?
                .query_row([message_id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((session_id, unindexed)) = removed else {
                return Ok(());
            };
            // A prompt is counted when its session takes it up.
            if unindexed {
                return Ok(());
            }
            transaction
                .prepare_cached(
                    "UPDATE sessions SET message_count = message_count - 1 WHERE session_id = ?1",
                )?
                .execute([&session_id])?;
            forget(transaction, &session_id, message_id)
        })
        .await
    }
}

/// Adds a message to its session; gives `false` and writes nothing when it is known already.
pub(in crate::server::store) fn insert(
    transaction: &Transaction<'_>,
    session_id: &SessionId,
    message: &Message,
) -> Result<bool, StoreError> {
    if !append(transaction, session_id, message, false)? {
        return Ok(false);
    }
    transaction
        .prepare_cached(
            "UPDATE sessions SET message_count = message_count + 1 WHERE session_id = ?1",
        )?
        .execute([session_id.as_str()])?;
    index(transaction, session_id, message)?;
    Ok(true)
}

/// Writes a message at the end of its session, to be indexed by the caller or later.
pub(in crate::server::store) fn append(
    transaction: &Transaction<'_>,
    session_id: &SessionId,
    message: &Message,
    unindexed: bool,
) -> Result<bool, StoreError> {
    let added = transaction
        .prepare_cached(
            "INSERT INTO messages (message_id, session_id, position, turn_id, role, state, parts, \
             usage, created_at, ended_at, recovered, unindexed) VALUES (?1, ?2, \
             (SELECT COALESCE(MAX(position), 0) + 1 FROM messages WHERE session_id = ?2), \
             ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) \
             ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            message.message_id.as_str(),
            session_id.as_str(),
            message.turn_id.as_ref().map(TurnId::as_str),
            to_word(&message.role)?,
            to_word(&message.state)?,
            to_json(&message.parts)?,
            message.usage.as_ref().map(to_json).transpose()?,
            message.created_at.millis(),
            message.ended_at.map(|at| at.millis()),
            message.recovered,
            unindexed,
        ])?;
    Ok(added > 0)
}
