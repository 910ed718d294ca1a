//! What can be asked about agents.

use axum::Json;
use axum::extract::State;

use super::extract::Path;
use crate::domain::ids::SessionId;
use crate::server::conversations;
use crate::server::error::ServiceError;
use crate::server::state::Services;
use crate::wire::rest::{AgentFacts, TraceLine};

/// Tells what a conversation's agent offers: options, commands, and its own name for it.
pub async fn facts(
    State(services): State<Services>,
    Path(id): Path<SessionId>,
) -> Result<Json<AgentFacts>, ServiceError> {
    Ok(Json(conversations::agent_facts(&services, &id).await?))
}

/// Lists the last messages to and from a conversation's agent, word for word.
pub async fn messages(
    State(services): State<Services>,
    Path(id): Path<SessionId>,
) -> Result<Json<Vec<TraceLine>>, ServiceError> {
    conversations::row(&services, &id).await?;
    Ok(Json(services.registry.desk(&id).map(|desk| desk.trace.lines()).unwrap_or_default()))
}
