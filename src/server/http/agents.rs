//! What can be asked about agents.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;

use super::Answer;
use super::extract::{Body, Path, Query};
use crate::domain::ids::SessionId;
use crate::domain::session::Session;
use crate::server::state::Services;
use crate::server::{conversations, import};
use crate::wire::rest::{AgentFacts, AgentInfo, EarlierConversation, ImportRequest, TraceLine};

/// Lists the agents, with what is missing where one cannot be used.
pub async fn list(State(services): State<Services>) -> Json<Vec<AgentInfo>> {
    let agents = services.registry.agents();
    agents.look().await;
    Json(agents.list())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FolderQuery {
    #[serde(default)]
    typed: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EarlierQuery {
    #[serde(default)]
    workspace: Option<String>,
}

/// Lists the conversations that an agent remembers in a folder.
pub async fn earlier(
    State(services): State<Services>,
    Path(agent): Path<String>,
    Query(query): Query<EarlierQuery>,
) -> Answer<Vec<EarlierConversation>> {
    Ok(Json(import::remembered(&services, &agent, query.workspace.as_deref()).await?))
}

/// Brings a conversation in that an agent remembers, and gives its row.
pub async fn bring_in(
    State(services): State<Services>,
    Body(request): Body<ImportRequest>,
) -> Answer<Session> {
    Ok(Json(import::import(&services, request).await?))
}

/// Offers the allowed folders whose path begins with what was typed.
pub async fn folders(
    State(services): State<Services>,
    Query(query): Query<FolderQuery>,
) -> Json<Vec<String>> {
    Json(services.folders.complete(&query.typed))
}

/// Tells what a conversation's agent offers: options, commands, and its own name for it.
pub async fn facts(
    State(services): State<Services>,
    Path(id): Path<SessionId>,
) -> Answer<AgentFacts> {
    Ok(Json(conversations::agent_facts(&services, &id).await?))
}

/// Lists the last messages to and from a conversation's agent, word for word.
pub async fn messages(
    State(services): State<Services>,
    Path(id): Path<SessionId>,
) -> Answer<Vec<TraceLine>> {
    conversations::row(&services, &id).await?;
    Ok(Json(services.registry.desk(&id).map(|desk| desk.trace.lines()).unwrap_or_default()))
}
