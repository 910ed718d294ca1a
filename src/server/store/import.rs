//! Conversations that an agent remembers, by the agent's own names for them.

use rusqlite::{OptionalExtension, Transaction, params};

use sqlx::query;

use super::messages::insert;
use super::rows;
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
        let found = query(KNOWN)
            .bind(agent)
            .bind(agent_session)
            .fetch_optional(&mut *self.readers.lend().await?)
            .await?;
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
        let stored = self
            .write(|transaction| {
                if let Some(known) = known(transaction, &session.agent, agent_session)? {
                    return Ok(known);
                }
                add(transaction, session, agent_session)?;
                for message in messages {
                    insert(transaction, &session.session_id, message)?;
                }
                Ok(session.session_id.clone())
            })
            .await?;
        self.settle().await?;
        Ok(stored)
    }
}

fn known(
    transaction: &Transaction<'_>,
    agent: &str,
    agent_session: &str,
) -> Result<Option<SessionId>, StoreError> {
    let found: Option<String> = transaction
        .prepare_cached(KNOWN)?
        .query_row(params![agent, agent_session], |row| row.get(0))
        .optional()?;
    Ok(found.and_then(|id| SessionId::parse(&id).ok()))
}

fn add(
    transaction: &Transaction<'_>,
    session: &Session,
    agent_session: &str,
) -> Result<(), StoreError> {
    transaction
        .prepare_cached(
            "INSERT INTO sessions (session_id, title, agent, workspace, lineage_root_id, preview, \
             agent_session, created_at, last_activity_at) \
             VALUES (?1, ?2, ?3, ?4, ?1, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            session.session_id.as_str(),
            session.title,
            session.agent,
            session.workspace,
            session.preview,
            agent_session,
            session.created_at.millis(),
            session.last_activity_at.millis(),
        ])?;
    Ok(())
}
