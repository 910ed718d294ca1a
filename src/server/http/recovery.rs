//! The REST door to the turn journal: audit, repair and diagnosis.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;

use super::Answer;
use super::extract::{Body, Query};
use crate::domain::ids::SessionId;
use crate::server::error::ServiceError;
use crate::server::state::Services;
use crate::wire::recovery::{AuditReport, JournalView, RepairReport};

pub async fn audit(State(services): State<Services>) -> Answer<AuditReport> {
    Ok(Json(services.auditor().audit().await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepairRequest {
    /// Without it, the answer tells what would be done.
    #[serde(default)]
    apply: bool,
}

pub async fn repair(
    State(services): State<Services>,
    Body(request): Body<RepairRequest>,
) -> Answer<RepairReport> {
    Ok(Json(services.repair(request.apply).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalQuery {
    session_id: SessionId,
}

pub async fn turn_journal(
    State(services): State<Services>,
    Query(query): Query<JournalQuery>,
) -> Answer<JournalView> {
    let view = services.auditor().view(&query.session_id).await?;
    Ok(Json(view.ok_or_else(ServiceError::no_session)?))
}
