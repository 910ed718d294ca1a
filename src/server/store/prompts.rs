//! What is done for a stored prompt once its session has it. Nobody waits for it, so it is not part
//! of the transaction that acknowledges the prompt; a start makes up for what a crash left out.

use futures::FutureExt;
use sqlx::query;

use super::rows::{self, select_messages};
use super::search::index;
use super::submit::{NewPrompt, insert_statement};
use super::writer::WriteTransaction;
use super::{Store, StoreError};
use crate::domain::ids::{MessageId, SessionId};
use crate::domain::list::{preview, title_from_prompt};
use crate::domain::message::Message;

/// The prompts that were stored and not finished, one of them or all.
const UNFINISHED: &str =
    select_messages!("unindexed = 1 AND withdrawn = 0 AND message_id = COALESCE($1, message_id)");

impl Store {
    /// Stores a prompt that comes back from the journal, and finishes it at once. A turn that is
    /// known already changes nothing.
    pub async fn restore_prompt(
        &self,
        session_id: &SessionId,
        prompt: &Message,
    ) -> Result<(), StoreError> {
        let (session_id, message) = (session_id.clone(), prompt.clone());
        let statement = insert_statement(&[NewPrompt { session_id, message, answered: None }])?;
        let prompt = prompt.clone();
        self.write(|transaction| {
            async move {
                for row in transaction.fetch_all(statement).await? {
                    finish(transaction, &rows::required(&row, "session_id")?, &prompt).await?;
                }
                Ok(())
            }
            .boxed()
        })
        .await
    }

    /// Gives the sessions of one stored prompt, or of all that a crash left unfinished, a title if
    /// they have none, moves them up the list and makes the prompts searchable, all or nothing.
    pub async fn finish_prompts(&self, only: Option<&MessageId>) -> Result<(), StoreError> {
        let statement = query(UNFINISHED).bind(only.map(MessageId::as_str));
        self.write(|transaction| {
            async move {
                for row in transaction.fetch_all(statement).await? {
                    let (session_id, prompt) = rows::message_in_session(&row)?;
                    finish(transaction, &session_id, &prompt).await?;
                }
                Ok(())
            }
            .boxed()
        })
        .await
    }

    /// Lists the prompts that were stored and not finished.
    pub async fn unfinished_prompts(&self) -> Result<Vec<(SessionId, Message)>, StoreError> {
        let statement = query(UNFINISHED).bind(None::<&str>);
        let found = self.read_all(statement).await?;
        found.iter().map(rows::message_in_session).collect()
    }
}

/// A question that still waited for a person is passed over, or answered by the prompt.
async fn finish(
    transaction: &mut WriteTransaction,
    session_id: &SessionId,
    prompt: &Message,
) -> Result<(), StoreError> {
    let text = prompt.text();
    let statement = query(
        "UPDATE sessions SET title = CASE WHEN title = '' THEN $2 ELSE title END, \
         preview = $3, last_activity_at = $4, message_count = message_count + 1 \
         WHERE session_id = $1",
    )
    .bind(session_id.as_str())
    .bind(title_from_prompt(&text))
    .bind(preview(&text))
    .bind(prompt.created_at.millis());
    transaction.execute(statement).await?;
    let statement = query(
        "UPDATE messages SET state = 'interrupted' WHERE session_id = $1 AND state = 'waiting'",
    )
    .bind(session_id.as_str());
    transaction.execute(statement).await?;
    index(transaction, session_id, prompt).await?;
    let statement = query("UPDATE messages SET unindexed = 0 WHERE message_id = $1")
        .bind(prompt.message_id.as_str());
    transaction.execute(statement).await.map(drop)
}
