//! The REST door.

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::Answer;
use super::extract::{Body, Path, Query};
use crate::domain::ids::{BlobId, MessageId, SessionId};
use crate::domain::resolver::{EntryPoint, Intent, Resolution};
use crate::domain::session::Session;
use crate::server::blobs::picture_kind;
use crate::server::conversations;
use crate::server::error::ServiceError;
use crate::server::resolution::resolve;
use crate::server::sessions::TaskCommand;
use crate::server::state::Services;
use crate::server::turns::submit::submit;
use crate::wire::error::FailureCode;
use crate::wire::rest::{
    NewSession, RunningSession, SessionPatch, StartTurn, StoredBlob, Transcript, TurnReceipt,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PageQuery {
    before: Option<MessageId>,
    limit: Option<u32>,
}

pub async fn get_session(
    State(services): State<Services>,
    Path(id): Path<SessionId>,
    Query(query): Query<PageQuery>,
) -> Answer<Transcript> {
    let transcript =
        conversations::open(&services, &id, query.before.as_ref(), query.limit).await?;
    Ok(Json(transcript))
}

pub async fn new_session(
    State(services): State<Services>,
    Body(request): Body<NewSession>,
) -> Result<(StatusCode, Json<Session>), ServiceError> {
    let session = conversations::create(&services, request).await?;
    Ok((StatusCode::CREATED, Json(session)))
}

pub async fn patch_session(
    State(services): State<Services>,
    Path(id): Path<SessionId>,
    Body(patch): Body<SessionPatch>,
) -> Answer<Session> {
    Ok(Json(conversations::patch(&services, &id, patch).await?))
}

pub async fn delete_session(
    State(services): State<Services>,
    Path(id): Path<SessionId>,
) -> Result<StatusCode, ServiceError> {
    conversations::delete(&services, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Brings back what was deleted.
pub async fn restore_session(
    State(services): State<Services>,
    Path(id): Path<SessionId>,
) -> Answer<Session> {
    Ok(Json(conversations::restore(&services, &id).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResolveQuery {
    #[serde(default)]
    inspect: bool,
}

/// Tells which row an id leads to; what is no id at all is answered too.
pub async fn resolve_session(
    State(services): State<Services>,
    Path(requested): Path<String>,
    Query(query): Query<ResolveQuery>,
) -> Answer<Resolution> {
    let intent = if query.inspect { Intent::Inspect } else { Intent::Navigate };
    Ok(Json(resolve(&services, &requested, EntryPoint::DirectOpen, intent).await?))
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct ForkRequest {
    message_id: Option<MessageId>,
}

pub async fn fork_session(
    State(services): State<Services>,
    Path(id): Path<SessionId>,
    Body(request): Body<ForkRequest>,
) -> Result<(StatusCode, Json<Session>), ServiceError> {
    let fork = conversations::fork(&services, &id, request.message_id.as_ref()).await?;
    Ok((StatusCode::CREATED, Json(fork)))
}

pub async fn compress_session(
    State(services): State<Services>,
    Path(id): Path<SessionId>,
) -> Result<StatusCode, ServiceError> {
    services.registry.ask(&id, TaskCommand::Compress).await??;
    Ok(StatusCode::ACCEPTED)
}

pub async fn start_turn(
    State(services): State<Services>,
    Body(turn): Body<StartTurn>,
) -> Result<(StatusCode, Json<TurnReceipt>), ServiceError> {
    Ok((StatusCode::ACCEPTED, Json(submit(&services, turn).await?)))
}

pub async fn running_sessions(State(services): State<Services>) -> Json<Vec<RunningSession>> {
    Json(services.registry.running())
}

pub async fn add_blob(
    State(services): State<Services>,
    bytes: Bytes,
) -> Result<(StatusCode, Json<StoredBlob>), ServiceError> {
    if bytes.is_empty() {
        let message = "This file is empty.";
        return Err(ServiceError::refused(FailureCode::InvalidRequest, message));
    }
    let size = bytes.len() as u64;
    let blob = services.blobs.write(bytes.to_vec()).await?;
    Ok((StatusCode::CREATED, Json(StoredBlob { blob, size })))
}

/// Serves stored bytes. Only pictures are shown; the rest is downloaded, so that nothing stored
/// here ever runs as a page of this origin.
pub async fn get_blob(
    State(services): State<Services>,
    Path(id): Path<BlobId>,
) -> Result<Response, ServiceError> {
    let missing = || ServiceError::refused(FailureCode::NotFound, "There is no such file.");
    let bytes = services.blobs.read(&id).await?.ok_or_else(missing)?;
    let kind = picture_kind(&bytes);
    let disposition = if kind.is_some() { "inline" } else { "attachment" };
    let headers = [
        (header::CONTENT_TYPE, kind.unwrap_or("application/octet-stream")),
        (header::CONTENT_DISPOSITION, disposition),
        (header::CACHE_CONTROL, "private, max-age=31536000, immutable"),
    ];
    Ok((headers.map(|(name, value)| (name, HeaderValue::from_static(value))), bytes)
        .into_response())
}

pub async fn healthz() -> &'static str {
    "ok\n"
}

pub async fn not_found() -> ServiceError {
    ServiceError::refused(FailureCode::NotFound, "There is nothing at this address.")
}

pub async fn method_not_allowed() -> ServiceError {
    ServiceError::refused(FailureCode::MethodNotAllowed, "This address does not take that method.")
}
