//! Queries on messages.

use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, Row, Sqlite, Transaction, query};

use super::rows::{self, message_columns, to_json, to_word};
use super::search::index;
use super::{Store, StoreError};
use crate::domain::ids::{MessageId, SessionId, TurnId};
use crate::domain::message::{Message, MessageState};

/// Messages in reading order, and whether older ones exist.
#[derive(Debug, Clone, PartialEq)]
pub struct MessagePage {
    pub messages: Vec<Message>,
    pub has_earlier: bool,
}

impl Store {
    /// Reads the newest page of a conversation, or the page that ends before a message, and reads
    /// on into the earlier parts where the row has no more.
    pub async fn message_page(
        &self,
        session_id: &SessionId,
        before: Option<&MessageId>,
        limit: u32,
    ) -> Result<MessagePage, StoreError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let (mut row, mut position) = match before {
            Some(message_id) => self.place_of(message_id).await?,
            None => Some((session_id.clone(), i64::MAX)),
        }
        .unwrap_or_else(|| (session_id.clone(), i64::MAX));
        let mut newest_first = Vec::new();
        let mut visited = Vec::new();
        loop {
            let missing = limit + 1 - newest_first.len();
            newest_first.extend(self.messages_before(&row, position, missing).await?);
            if newest_first.len() > limit {
                break;
            }
            visited.push(row.clone());
            match self.earlier_part(&row).await? {
                Some(earlier) if !visited.contains(&earlier) => row = earlier,
                _ => break,
            }
            position = i64::MAX;
        }
        let has_earlier = newest_first.len() > limit;
        newest_first.truncate(limit);
        newest_first.reverse();
        Ok(MessagePage { messages: newest_first, has_earlier })
    }

    async fn messages_before(
        &self,
        session_id: &SessionId,
        position: i64,
        limit: usize,
    ) -> Result<Vec<Message>, StoreError> {
        let found = query(concat!(
            "SELECT ",
            message_columns!(),
            " FROM messages WHERE session_id = $1 \
             AND position < $2 ORDER BY position DESC LIMIT $3"
        ))
        .bind(session_id.as_str())
        .bind(position)
        .bind(i64::try_from(limit).unwrap_or(i64::MAX))
        .fetch_all(&mut *self.readers.lend().await?)
        .await?;
        found.iter().map(rows::message).collect()
    }

    async fn place_of(
        &self,
        message_id: &MessageId,
    ) -> Result<Option<(SessionId, i64)>, StoreError> {
        let row = query("SELECT session_id, position FROM messages WHERE message_id = $1")
            .bind(message_id.as_str())
            .fetch_optional(&mut *self.readers.lend().await?)
            .await?;
        row.map(|row| Ok((session_of(&row)?, row.try_get("position")?))).transpose()
    }

    /// Finds the message that a turn's prompt was stored as, and the session that holds it.
    pub async fn prompt_of_turn(
        &self,
        turn_id: &TurnId,
    ) -> Result<Option<(SessionId, Message)>, StoreError> {
        let statement = concat!(
            "SELECT ",
            message_columns!(),
            " FROM messages WHERE turn_id = $1 AND role = 'user'"
        );
        self.message_of_turn(statement, turn_id).await
    }

    /// Finds the answer to a turn, and the session that holds it.
    pub async fn answer_of_turn(
        &self,
        turn_id: &TurnId,
    ) -> Result<Option<(SessionId, Message)>, StoreError> {
        let statement = concat!(
            "SELECT ",
            message_columns!(),
            " FROM messages WHERE turn_id = $1 AND role = 'assistant' \
             ORDER BY created_at DESC LIMIT 1"
        );
        self.message_of_turn(statement, turn_id).await
    }

    async fn message_of_turn(
        &self,
        statement: &'static str,
        turn_id: &TurnId,
    ) -> Result<Option<(SessionId, Message)>, StoreError> {
        let row = query(statement)
            .bind(turn_id.as_str())
            .fetch_optional(&mut *self.readers.lend().await?)
            .await?;
        row.as_ref().map(|row| Ok((session_of(row)?, rows::message(row)?))).transpose()
    }

    /// Adds a prompt, names a session that has no name yet and moves it up the list, all or
    /// nothing. A question that still waited for a person is passed over, or answered by it. Tells whether the prompt is new; a turn that is known already changes nothing.
    pub async fn add_prompt(
        &self,
        session_id: &SessionId,
        message: &Message,
        title: &str,
        preview: &str,
    ) -> Result<bool, StoreError> {
        let mut writer = self.writer.lend().await?;
        let mut transaction = writer.begin().await?;
        if !insert(&mut transaction, session_id, message).await? {
            return Ok(false);
        }
        query(
            "UPDATE sessions SET title = CASE WHEN title = '' THEN $2 ELSE title END, \
             preview = $3, last_activity_at = $4 WHERE session_id = $1",
        )
        .bind(session_id.as_str())
        .bind(title)
        .bind(preview)
        .bind(message.created_at.millis())
        .execute(&mut *transaction)
        .await?;
        query(
            "UPDATE messages SET state = 'interrupted' WHERE session_id = $1 AND state = 'waiting'",
        )
        .bind(session_id.as_str())
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Writes a message as it stands now, new or known.
    pub async fn save_message(
        &self,
        session_id: &SessionId,
        message: &Message,
    ) -> Result<(), StoreError> {
        let mut writer = self.writer.lend().await?;
        let mut transaction = writer.begin().await?;
        if !insert(&mut transaction, session_id, message).await? {
            query(
                "UPDATE messages SET state = $2, parts = $3, usage = $4, ended_at = $5 \
                 WHERE message_id = $1",
            )
            .bind(message.message_id.as_str())
            .bind(to_word(&message.state)?)
            .bind(to_json(&message.parts)?)
            .bind(message.usage.as_ref().map(to_json).transpose()?)
            .bind(message.ended_at.map(|at| at.millis()))
            .execute(&mut *transaction)
            .await?;
            index(&mut transaction, session_id, message).await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Removes a message and everything that finds it.
    pub async fn remove_message(&self, message_id: &MessageId) -> Result<(), StoreError> {
        let mut writer = self.writer.lend().await?;
        let mut transaction = writer.begin().await?;
        let removed = query("DELETE FROM messages WHERE message_id = $1 RETURNING session_id")
            .bind(message_id.as_str())
            .fetch_optional(&mut *transaction)
            .await?;
        if let Some(row) = removed {
            let session_id = session_of(&row)?;
            query("UPDATE sessions SET message_count = message_count - 1 WHERE session_id = $1")
                .bind(session_id.as_str())
                .execute(&mut *transaction)
                .await?;
            query("DELETE FROM search_entries WHERE session_id = $1 AND message_id = $2")
                .bind(session_id.as_str())
                .bind(message_id.as_str())
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        Ok(())
    }

    /// Lists the answers that were under way when the server stopped.
    pub async fn unfinished_messages(&self) -> Result<Vec<(SessionId, Message)>, StoreError> {
        let found =
            query(concat!("SELECT ", message_columns!(), " FROM messages WHERE state = $1"))
                .bind(to_word(&MessageState::Streaming)?)
                .fetch_all(&mut *self.readers.lend().await?)
                .await?;
        found.iter().map(|row| Ok((session_of(row)?, rows::message(row)?))).collect()
    }
}

fn session_of(row: &SqliteRow) -> Result<SessionId, StoreError> {
    SessionId::try_from(row.try_get::<String, _>("session_id")?)
        .map_err(|error| StoreError::Corrupt { what: "session_id", reason: error.to_string() })
}

/// Appends a message to its session; gives `false` and writes nothing when it is known already.
pub(super) async fn insert(
    transaction: &mut Transaction<'_, Sqlite>,
    session_id: &SessionId,
    message: &Message,
) -> Result<bool, StoreError> {
    let done = query(
        "INSERT INTO messages (message_id, session_id, position, turn_id, role, state, parts, \
         usage, created_at, ended_at, recovered) VALUES ($1, $2, \
         (SELECT COALESCE(MAX(position), 0) + 1 FROM messages WHERE session_id = $2), \
         $3, $4, $5, $6, $7, $8, $9, $10) \
         ON CONFLICT DO NOTHING",
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
    .bind(i64::from(message.recovered))
    .execute(&mut **transaction)
    .await?;
    if done.rows_affected() == 0 {
        return Ok(false);
    }
    query("UPDATE sessions SET message_count = message_count + 1 WHERE session_id = $1")
        .bind(session_id.as_str())
        .execute(&mut **transaction)
        .await?;
    index(transaction, session_id, message).await?;
    Ok(true)
}
