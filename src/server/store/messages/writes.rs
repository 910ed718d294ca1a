//! Writes of messages.

use futures::FutureExt;
use sqlx::query;

use crate::domain::ids::{SessionId, TurnId};
use crate::domain::message::Message;
use crate::server::store::rows::{to_json, to_word};
use crate::server::store::search::index;
use crate::server::store::writer::WriteTransaction;
use crate::server::store::{Store, StoreError};

impl Store {
    /// Writes a message as it is now, new or known.
    pub async fn save_message(
        &self,
        session_id: &SessionId,
        message: &Message,
    ) -> Result<(), StoreError> {
        let (session_id, message) = (session_id.clone(), message.clone());
        self.write(|transaction| {
            async move {
                if insert(transaction, &session_id, &message).await? {
                    return Ok(());
                }
                let statement = query(
                    "UPDATE messages SET state = $2, parts = $3, usage = $4, ended_at = $5 \
                     WHERE message_id = $1",
                )
                .bind(message.message_id.as_str())
                .bind(to_word(&message.state)?)
                .bind(to_json(&message.parts)?)
                .bind(message.usage.as_ref().map(to_json).transpose()?)
                .bind(message.ended_at.map(|at| at.millis()));
                transaction.execute(statement).await?;
                index(transaction, &session_id, &message).await
            }
            .boxed()
        })
        .await
    }
}

/// Appends a message to its session; returns `false` and writes nothing when it is known already.
pub(in crate::server::store) async fn insert(
    transaction: &mut WriteTransaction,
    session_id: &SessionId,
    message: &Message,
) -> Result<bool, StoreError> {
    let statement = query(
        "INSERT INTO messages (message_id, session_id, position, turn_id, role, state, parts, \
         usage, created_at, ended_at, recovered) VALUES ($1, $2, \
         (SELECT COALESCE(MAX(position), 0) + 1 FROM messages WHERE session_id = $2), \
         $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (message_id) DO NOTHING",
    )
    .bind(message.message_id.as_str())
    .bind(session_id.as_str())
    .bind(message.turn_id.as_ref().map(TurnId::as_str))
    .bind(to_word(&message.role)?)
    .bind(to_word(&message.state)?)
    .bind(to_json(&message.parts)?)
    .bind(message.usage.as_ref().map(to_json).transpose()?)
    .bind(message.created_at.millis())
    .bind(message.ended_at.map(|at| at.millis()))
    .bind(message.recovered);
    if transaction.execute(statement).await? == 0 {
        return Ok(false);
    }
    let statement =
        query("UPDATE sessions SET message_count = message_count + 1 WHERE session_id = $1")
            .bind(session_id.as_str());
    transaction.execute(statement).await?;
    index(transaction, session_id, message).await?;
    Ok(true)
}
