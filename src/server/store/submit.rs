//! Storing submitted prompts: where each belongs, and the transaction that inserts them.

use futures::FutureExt;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, query};

use super::rows::{self, to_json, to_word};
use super::writer::{Statement, WriteTransaction};
use super::{Store, StoreError};
use crate::domain::ids::{MessageId, SessionId, TurnId};
use crate::domain::message::Message;

/// Where a submitted turn will be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SubmitTarget {
    /// The turn is stored already.
    KnownTurn,
    NoSession,
    Session {
        /// The row is the record of an earlier part of its conversation.
        is_snapshot: bool,
        workspace: String,
    },
}

/// A prompt that is to be stored.
#[derive(Debug, Clone)]
pub struct NewPrompt {
    /// The row that it was sent to; where compression came between, its continuation takes it.
    pub session_id: SessionId,
    pub message: Message,
    /// The message with the question that the prompt answers, as it is once it is answered.
    pub answered: Option<Message>,
}

/// What became of one prompt of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptInsert {
    Inserted {
        session_id: SessionId,
    },
    /// The turn is stored already, or its conversation is gone.
    Skipped,
    /// The question that the prompt answers does not wait any more.
    QuestionClosed,
}

const TARGETS: &str = "SELECT EXISTS (SELECT 1 FROM messages WHERE role = 'user' \
       AND turn_id = json_extract(given.value, '$[0]')) AS is_known_turn, \
     session.snapshot, session.workspace FROM json_each($1) AS given \
     LEFT JOIN sessions AS session ON session.session_id = json_extract(given.value, '$[1]') \
       AND session.deleted_at IS NULL ORDER BY given.key";

/// Inserts prompts at the ends of their sessions, to be counted and indexed later. A session that
/// compression turned into a snapshot meanwhile passes its prompt on to the row that the
/// conversation goes on in. A turn that is known already and one whose session is gone are skipped.
const INSERT_PROMPTS: &str = "INSERT INTO messages (message_id, session_id, position, turn_id, \
     role, state, parts, created_at, ended_at, recovered, unindexed) \
     SELECT prompt.message_id, prompt.target_id, (SELECT COALESCE(MAX(position), 0) + 1 \
       FROM messages WHERE session_id = prompt.target_id), prompt.turn_id, 'user', 'complete', \
     prompt.parts, prompt.created_at, prompt.created_at, prompt.recovered, 1 FROM (SELECT \
       json_extract(given.value, '$[0]') AS message_id, json_extract(given.value, '$[2]') AS turn_id, \
       json_extract(given.value, '$[3]') AS parts, json_extract(given.value, '$[4]') AS created_at, \
       json_extract(given.value, '$[5]') AS recovered, \
       CASE session.snapshot WHEN 0 THEN session.session_id ELSE COALESCE( \
         (SELECT tip.session_id FROM sessions AS tip \
           WHERE tip.lineage_root_id = session.lineage_root_id AND tip.snapshot = 0 \
           AND tip.deleted_at IS NULL ORDER BY tip.segment DESC LIMIT 1), \
         session.session_id) END AS target_id \
       FROM json_each($1) AS given CROSS JOIN sessions AS session \
       ON session.session_id = json_extract(given.value, '$[1]')) AS prompt WHERE TRUE \
     ON CONFLICT (turn_id) WHERE role = 'user' DO NOTHING RETURNING message_id, session_id";

impl Store {
    /// Looks up several turns and the rows that they are sent to, with one statement.
    pub async fn submit_targets(
        &self,
        turns: &[(TurnId, SessionId)],
    ) -> Result<Vec<SubmitTarget>, StoreError> {
        let statement = query(TARGETS).bind(to_json(&turns)?);
        let found = match self.writer.try_read() {
            Some(mut connection) => statement.fetch_all(&mut *connection).await?,
            None => statement.fetch_all(&mut *self.readers.acquire().await?).await?,
        };
        found.iter().map(target_of).collect()
    }

    /// Stores prompts in one transaction: all of those that can be stored, or none.
    pub async fn insert_prompts(
        &self,
        prompts: Vec<NewPrompt>,
    ) -> Result<Vec<PromptInsert>, StoreError> {
        if prompts.iter().any(|prompt| prompt.answered.is_some()) {
            return self.insert_answers(prompts).await;
        }
        let inserted = self.execute(insert_statement(&prompts)?).await?.returned;
        prompts.iter().map(|prompt| insert_of(prompt, &inserted)).collect()
    }

    /// Stores prompts some of which answer a question, each only while its question waits.
    async fn insert_answers(
        &self,
        prompts: Vec<NewPrompt>,
    ) -> Result<Vec<PromptInsert>, StoreError> {
        self.write(|transaction| {
            async move {
                let mut inserts = Vec::with_capacity(prompts.len());
                for prompt in &prompts {
                    if close_question(transaction, prompt).await? {
                        let statement = insert_statement(std::slice::from_ref(prompt))?;
                        let inserted = transaction.fetch_all(statement).await?;
                        inserts.push(insert_of(prompt, &inserted)?);
                    } else {
                        inserts.push(PromptInsert::QuestionClosed);
                    }
                }
                Ok(inserts)
            }
            .boxed()
        })
        .await
    }

    /// Hides a prompt that its sender took back. Its row stays, so that a late copy of the turn is
    /// known.
    pub async fn withdraw_prompt(&self, message_id: &MessageId) -> Result<(), StoreError> {
        let message_id = message_id.clone();
        self.write(|transaction| withdraw(transaction, message_id).boxed()).await
    }
}

fn target_of(row: &SqliteRow) -> Result<SubmitTarget, StoreError> {
    if row.try_get("is_known_turn")? {
        return Ok(SubmitTarget::KnownTurn);
    }
    Ok(match row.try_get("workspace")? {
        Some(workspace) => {
            SubmitTarget::Session { is_snapshot: row.try_get("snapshot")?, workspace }
        }
        None => SubmitTarget::NoSession,
    })
}

/// Makes the statement that inserts prompts and returns those that it inserted.
pub(super) fn insert_statement(prompts: &[NewPrompt]) -> Result<Statement, StoreError> {
    let mut rows = Vec::with_capacity(prompts.len());
    for NewPrompt { session_id, message, .. } in prompts {
        let Message { message_id, turn_id, recovered, .. } = message;
        let (parts, at) = (to_json(&message.parts)?, message.created_at.millis());
        rows.push((message_id, session_id, turn_id, parts, at, recovered));
    }
    Ok(query(INSERT_PROMPTS).bind(to_json(&rows)?))
}

fn insert_of(prompt: &NewPrompt, inserted: &[SqliteRow]) -> Result<PromptInsert, StoreError> {
    for row in inserted {
        if row.try_get::<&str, _>("message_id")? == prompt.message.message_id.as_str() {
            return Ok(PromptInsert::Inserted { session_id: rows::required(row, "session_id")? });
        }
    }
    Ok(PromptInsert::Skipped)
}

/// Closes the question that a prompt answers, and tells whether it still waited. A prompt that
/// answers none has nothing to close.
async fn close_question(
    transaction: &mut WriteTransaction,
    prompt: &NewPrompt,
) -> Result<bool, StoreError> {
    let Some(answered) = &prompt.answered else { return Ok(true) };
    let statement = query(
        "UPDATE messages SET state = $2, parts = $3 WHERE message_id = $1 AND state = 'waiting'",
    )
    .bind(answered.message_id.as_str())
    .bind(to_word(&answered.state)?)
    .bind(to_json(&answered.parts)?);
    Ok(transaction.execute(statement).await? > 0)
}

async fn withdraw(
    transaction: &mut WriteTransaction,
    message_id: MessageId,
) -> Result<(), StoreError> {
    let statement = query(
        "UPDATE messages SET withdrawn = 1 WHERE message_id = $1 AND withdrawn = 0 \
         RETURNING session_id, unindexed",
    )
    .bind(message_id.as_str());
    let Some(row) = transaction.fetch_optional(statement).await? else { return Ok(()) };
    // A prompt is counted and indexed when its session starts it.
    if row.try_get("unindexed")? {
        return Ok(());
    }
    let session_id: SessionId = rows::required(&row, "session_id")?;
    let statement =
        query("UPDATE sessions SET message_count = message_count - 1 WHERE session_id = $1")
            .bind(session_id.as_str());
    transaction.execute(statement).await?;
    super::search::remove(transaction, &session_id, &message_id).await
}
