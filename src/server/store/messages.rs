//! Queries on messages.

mod writes;

use sqlx::sqlite::SqliteRow;
use sqlx::{Row, query};

use super::rows::{self, message_columns, to_word};
use super::{Store, StoreError};
use crate::domain::ids::{MessageId, SessionId, TurnId};
use crate::domain::message::{Message, MessageState};

pub(super) use writes::{append, insert};

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
    rows::required(row, "session_id")
}
