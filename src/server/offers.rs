//! What a new conversation can begin with, and what the last one began with.

use std::path::Path;

use super::conversations::create;
use super::error::ServiceError;
use super::state::Services;
use crate::domain::session::Session;
use crate::wire::list::ListView;
use crate::wire::rest::{NewOffer, NewSession};

/// Tells which agents and folders there are to choose from, with those of last time chosen.
pub async fn offer(services: &Services) -> Result<NewOffer, ServiceError> {
    let agents = services.registry.agents();
    agents.look().await;
    let last = last_choice(services).await?;
    let usual = || agents.usual().map(|agent| agent.id).unwrap_or_default();
    let folder = last.workspace.unwrap_or_else(|| services.config.workspace.display().to_string());
    Ok(NewOffer {
        agents: agents.list(),
        agent: last.agent.unwrap_or_else(usual),
        folders: services.folders.complete(&format!("{folder}/")),
        folder,
    })
}

/// Makes a new conversation; what is not chosen is as it was last time.
pub async fn create_as_before(
    services: &Services,
    request: NewSession,
) -> Result<Session, ServiceError> {
    let last = match (&request.agent, &request.workspace) {
        (None, None) => last_choice(services).await?,
        _ => NewSession::default(),
    };
    let agent = request.agent.or(last.agent);
    let workspace = request.workspace.or(last.workspace);
    create(services, NewSession { agent, workspace, ..request }).await
}

/// Finds what the conversation that was last at work is made of, as far as it can be had again.
async fn last_choice(services: &Services) -> Result<NewSession, ServiceError> {
    let last = services.store.list_sessions(ListView::All, None, 1).await?;
    let Some(last) = last.into_iter().next() else {
        return Ok(NewSession::default());
    };
    let agent = services.registry.agents().get(&last.agent);
    let there = agent.is_some_and(|agent| agent.info().missing.is_none());
    let allowed = services.folders.allow(Path::new(&last.workspace)).is_ok();
    Ok(NewSession {
        agent: there.then_some(last.agent),
        workspace: (there && allowed).then_some(last.workspace),
        title: None,
    })
}
