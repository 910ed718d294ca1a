//! Conversations that an agent remembers, by the agent's own names for them.

use futures::FutureExt;
use sqlx::query;

use super::messages::insert;
use super::rows;
use super::writer::{Statement, WriteTransaction};
use super::{Store, StoreError};
use crate::domain::ids::SessionId;
use crate::domain::message::Message;
use crate::domain::session::Session;

const KNOWN: &str = "SELECT session_id FROM sessions WHERE agent = $1 AND agent_session = $2 \
     AND deleted_at IS NULL ORDER BY created_at DESC, session_id DESC LIMIT 1";

impl Store {
    /// Finds the row that an agent knows by a name, the newest where there are several.
    pub async fn session_of_agent(
        &self,
        agent: &str,
        agent_session: &str,
    ) -> Result<Option<SessionId>, StoreError> {
        let found = self.read_optional(known_session(agent, agent_session)).await?;
        found.map(|row| rows::required(&row, "session_id")).transpose()
    }

    /// Adds a conversation with all that was said in it, unless it is here already; gives its row
    /// in either case.
    pub async fn import_session(
        &self,
        session: &Session,
        agent_session: &str,
        messages: &[Message],
    ) -> Result<SessionId, StoreError> {
        let (session, agent_session) = (session.clone(), agent_session.to_owned());
        let messages = messages.to_vec();
        let stored = self
            .write(|transaction| {
                async move {
                    let known = known_session(&session.agent, &agent_session);
                    if let Some(row) = transaction.fetch_optional(known).await? {
                        return rows::required(&row, "session_id");
                    }
                    insert_session(transaction, &session, &agent_session).await?;
                    for message in &messages {
                        insert(transaction, &session.session_id, message).await?;
                    }
                    Ok(session.session_id)
                }
                .boxed()
            })
            .await?;
        self.flush_wal().await?;
        Ok(stored)
    }
}

fn known_session(agent: &str, agent_session: &str) -> Statement {
    query(KNOWN).bind(agent).bind(agent_session)
}

async fn insert_session(
    transaction: &mut WriteTransaction,
    session: &Session,
    agent_session: &str,
) -> Result<(), StoreError> {
    let statement = query(
        "INSERT INTO sessions (session_id, title, agent, workspace, lineage_root_id, preview, \
         agent_session, created_at, last_activity_at) VALUES ($1, $2, $3, $4, $1, $5, $6, $7, $8)",
    )
    .bind(session.session_id.as_str())
    .bind(&session.title)
    .bind(&session.agent)
    .bind(&session.workspace)
    .bind(&session.preview)
    .bind(agent_session)
    .bind(session.created_at.millis())
    .bind(session.last_activity_at.millis());
    transaction.execute(statement).await.map(drop)
}
