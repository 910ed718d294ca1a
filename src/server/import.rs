//! Brings in conversations that an agent remembers and Throughline does not.
//!
//! The agent tells what was said (`agents/remembered.rs`), `fold` makes messages of it, and one
//! transaction stores them with the agent's own name for the conversation, by which the next prompt
//! resumes it.

mod fold;

use std::path::PathBuf;
use std::sync::Arc;

use super::agents::agent::{Agent, AgentError};
use super::agents::remembered::Remembered;
use super::conversations::{self, LONGEST_TITLE, in_one_line};
use super::error::ServiceError;
use super::resolution::resolve;
use super::sessions::{Happened, preview_of};
use super::state::Services;
use crate::domain::list::preview;
use crate::domain::message::{Message, Role};
use crate::domain::resolver::{EntryPoint, Intent};
use crate::domain::session::Session;
use crate::wire::error::FailureCode;
use crate::wire::rest::{EarlierConversation, ImportRequest};

/// Lists what an agent remembers in a folder, and what of it is here already.
pub async fn remembered(
    services: &Services,
    agent: &str,
    workspace: Option<&str>,
) -> Result<Vec<EarlierConversation>, ServiceError> {
    let source = Source::find(services, agent, workspace)?;
    let mut listed = Vec::new();
    for it in source.remembered().await? {
        let session_id = services.store.session_of_agent(agent, &it.agent_session).await?;
        let Remembered { agent_session, title, updated_at } = it;
        listed.push(EarlierConversation { agent_session, title, updated_at, session_id });
    }
    Ok(listed)
}

/// Brings a conversation in, and gives its row; one that is here already is found and not doubled.
pub async fn import(services: &Services, request: ImportRequest) -> Result<Session, ServiceError> {
    let ImportRequest { agent, workspace, agent_session } = request;
    let source = Source::find(services, &agent, workspace.as_deref())?;
    if let Some(row) = source.row_here(services, &agent_session).await? {
        return Ok(row);
    }
    let all = source.remembered().await?;
    source.bring_in(services, &all, &agent_session).await
}

/// Reads the row in which a conversation goes on.
async fn tip(services: &Services, id: &str) -> Result<Session, ServiceError> {
    let resolution = resolve(services, id, EntryPoint::DirectOpen, Intent::Navigate).await?;
    let id = resolution.session_id.ok_or_else(ServiceError::no_session)?;
    conversations::row(services, &id).await
}

fn row_of(source: &Source, known: &Remembered, messages: &[Message]) -> Session {
    let prompt = messages.iter().find(|message| message.role == Role::User);
    let title = match known.title.trim() {
        "" => prompt.map(|prompt| preview(&prompt.text())).unwrap_or_default(),
        title => in_one_line(title),
    };
    let title = title.chars().take(LONGEST_TITLE).collect();
    let mut row =
        conversations::new_row(title, source.id.clone(), source.folder.display().to_string());
    if let (Some(first), Some(last)) = (messages.first(), messages.last()) {
        row.created_at = first.created_at;
        row.last_activity_at = known.updated_at.unwrap_or(last.created_at).max(row.created_at);
    }
    let answer = messages.iter().rev().find(|message| message.role == Role::Assistant);
    row.preview = answer.map(preview_of).unwrap_or_default();
    row
}

fn refused(error: AgentError) -> ServiceError {
    ServiceError::refused(FailureCode::AgentUnavailable, error.to_string())
}

/// An agent and the folder that it is asked about.
pub struct Source {
    id: String,
    agent: Arc<dyn Agent>,
    folder: PathBuf,
}

impl Source {
    pub fn find(
        services: &Services,
        id: &str,
        workspace: Option<&str>,
    ) -> Result<Self, ServiceError> {
        let id = conversations::usable_agent(services, Some(id.to_owned()))?;
        let folder = conversations::folder(services, &id, workspace)?;
        let agent = services.registry.agents().get(&id).ok_or_else(|| {
            ServiceError::refused(FailureCode::UnknownAgent, "There is no such agent here.")
        })?;
        Ok(Self { id, agent, folder })
    }

    pub async fn remembered(&self) -> Result<Vec<Remembered>, ServiceError> {
        self.agent.remembered(self.folder.clone()).await.map_err(refused)
    }

    /// Brings in one of the conversations that the agent remembers.
    pub async fn bring_in(
        &self,
        services: &Services,
        all: &[Remembered],
        agent_session: &str,
    ) -> Result<Session, ServiceError> {
        let Some(known) = all.iter().find(|it| it.agent_session == agent_session) else {
            let message = "The agent does not remember this conversation any more.";
            return Err(ServiceError::refused(FailureCode::NotFound, message));
        };
        let told = self.agent.retell(self.folder.clone(), agent_session.to_owned()).await;
        let at = known.updated_at.unwrap_or_else(super::mint::now);
        let messages = fold::messages(told.map_err(refused)?, &services.blobs, at).await?;
        if messages.is_empty() {
            let message = "The agent has nothing to tell of this conversation.";
            return Err(ServiceError::refused(FailureCode::NotFound, message));
        }
        let row = row_of(self, known, &messages);
        let stored = services.store.import_session(&row, agent_session, &messages).await?;
        services.registry.announce_as(Happened::Created, &stored).await?;
        tip(services, stored.as_str()).await
    }

    /// Finds the row of a conversation that is here already.
    pub async fn row_here(
        &self,
        services: &Services,
        agent_session: &str,
    ) -> Result<Option<Session>, ServiceError> {
        match services.store.session_of_agent(&self.id, agent_session).await? {
            Some(known) => tip(services, known.as_str()).await.map(Some),
            None => Ok(None),
        }
    }
}
