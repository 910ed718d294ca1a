//! Queries on messages.

mod writes;

use sqlx::{Row, query};

use super::rows::{self, select_messages};
use super::{Store, StoreError};
use crate::domain::ids::{MessageId, SessionId, TurnId};
use crate::domain::message::Message;

pub(super) use writes::insert;

/// The message that a turn's prompt was stored as.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredPrompt {
    /// The row that holds it.
    pub session_id: SessionId,
    pub message: Message,
    /// Its sender took it back, so no transcript shows it.
    pub is_withdrawn: bool,
}

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
        let statement = query(select_messages!(
            "session_id = $1 AND withdrawn = 0 AND position < $2 ORDER BY position DESC LIMIT $3"
        ))
        .bind(session_id.as_str())
        .bind(position)
        .bind(i64::try_from(limit).unwrap_or(i64::MAX));
        let found = self.read_all(statement).await?;
        found.iter().map(rows::message).collect()
    }

    async fn place_of(
        &self,
        message_id: &MessageId,
    ) -> Result<Option<(SessionId, i64)>, StoreError> {
        let statement = query("SELECT session_id, position FROM messages WHERE message_id = $1")
            .bind(message_id.as_str());
        let row = self.read_optional(statement).await?;
        row.map(|row| Ok((rows::required(&row, "session_id")?, row.try_get("position")?)))
            .transpose()
    }

    /// Finds the message that a turn's prompt was stored as, withdrawn ones included.
    pub async fn prompt_of_turn(
        &self,
        turn_id: &TurnId,
    ) -> Result<Option<StoredPrompt>, StoreError> {
        let statement =
            query(select_messages!("turn_id = $1 AND role = 'user'")).bind(turn_id.as_str());
        let Some(row) = self.read_optional(statement).await? else { return Ok(None) };
        let (session_id, message) = rows::message_in_session(&row)?;
        Ok(Some(StoredPrompt { session_id, message, is_withdrawn: row.try_get("withdrawn")? }))
    }

    /// Finds the answer to a turn, and the session that holds it.
    pub async fn answer_of_turn(
        &self,
        turn_id: &TurnId,
    ) -> Result<Option<(SessionId, Message)>, StoreError> {
        let statement = query(select_messages!(
            "turn_id = $1 AND role = 'assistant' ORDER BY created_at DESC LIMIT 1"
        ))
        .bind(turn_id.as_str());
        let row = self.read_optional(statement).await?;
        row.as_ref().map(rows::message_in_session).transpose()
    }

    /// Finds the answer of a session that waits for a person although its agent is gone.
    pub async fn waiting_answer(&self, id: &SessionId) -> Result<Option<Message>, StoreError> {
        let statement = query(select_messages!(
            "session_id = $1 AND state = 'waiting' ORDER BY position DESC LIMIT 1"
        ))
        .bind(id.as_str());
        let row = self.read_optional(statement).await?;
        row.as_ref().map(rows::message).transpose()
    }

    /// Reads all messages of one row, in reading order.
    pub async fn messages_of(&self, id: &SessionId) -> Result<Vec<Message>, StoreError> {
        let statement =
            query(select_messages!("session_id = $1 AND withdrawn = 0 ORDER BY position"))
                .bind(id.as_str());
        let found = self.read_all(statement).await?;
        found.iter().map(rows::message).collect()
    }

    /// Lists the answers that were in progress when the server stopped.
    pub async fn unfinished_messages(&self) -> Result<Vec<(SessionId, Message)>, StoreError> {
        let found = self.read_all(query(select_messages!("state = 'streaming'"))).await?;
        found.iter().map(rows::message_in_session).collect()
    }
}
