//! The JSON-RPC 2.0 door: the same services, one method each.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use jsonrpsee::RpcModule;
use jsonrpsee::core::RegisterMethodError;
use jsonrpsee::server::{ServerConfig, StopHandle, TowerService, stop_channel};
use jsonrpsee::types::error::{INTERNAL_ERROR_CODE, INVALID_PARAMS_CODE};
use jsonrpsee::types::{ErrorObjectOwned, Params};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use tower::ServiceExt;
use tower::layer::util::Identity;

use crate::domain::ids::SessionId;
use crate::domain::resolver::{EntryPoint, Intent};
use crate::domain::session::Session;
use crate::server::conversations;
use crate::server::error::ServiceError;
use crate::server::lists;
use crate::server::resolution::resolve;
use crate::server::state::Services;
use crate::wire::error::FailureCode;
use crate::wire::list::{ListQuery, ListView};
use crate::wire::rest::SessionPage;

/// What refuses a request that is understood: the place for codes of our own in the specification.
const REFUSED: i32 = -32000;
const NOT_FOUND: i32 = -32001;

/// Everything that can be called, ready to answer requests.
#[derive(Clone)]
pub struct Door {
    service: TowerService<Identity, Identity>,
    /// Its other end is watched by the service, which would stop with it.
    _stop: Arc<jsonrpsee::server::ServerHandle>,
}

impl Door {
    pub fn new(services: Services) -> Result<Self, RegisterMethodError> {
        let (stop, handle): (StopHandle, _) = stop_channel();
        let config = ServerConfig::builder().http_only().build();
        let builder = jsonrpsee::server::Server::builder().set_config(config).to_service_builder();
        let service = builder.build(methods(services)?, stop);
        Ok(Self { service, _stop: Arc::new(handle) })
    }

    pub async fn answer(self, request: Request) -> Response {
        let failed = |error: &dyn std::fmt::Display| {
            tracing::error!(%error, "a JSON-RPC request failed");
            ServiceError::refused(FailureCode::Internal, "Something went wrong on the server.")
                .into_response()
        };
        let (parts, body) = match self.service.oneshot(request).await {
            Ok(response) => response.into_parts(),
            Err(error) => return failed(&error),
        };
        match to_bytes(Body::new(body), usize::MAX).await {
            // The library writes `null` where the specification wants no answer at all.
            Ok(bytes) if bytes.is_empty() || &*bytes == b"null" => {
                StatusCode::NO_CONTENT.into_response()
            }
            Ok(bytes) => Response::from_parts(parts, Body::from(bytes)),
            Err(error) => failed(&error),
        }
    }
}

fn methods(services: Services) -> Result<RpcModule<Services>, RegisterMethodError> {
    let mut module = RpcModule::new(services);
    module.register_async_method("listSessions", |params, services, _| async move {
        list_sessions(&services, read(&params)?).await.map_err(refuse)
    })?;
    module.register_async_method("getSessionLeaves", |params, services, _| async move {
        get_session_leaves(&services, read(&params)?).await.map_err(refuse)
    })?;
    module.register_async_method("getSessionTree", |params, services, _| async move {
        lists::trees(&services, &read(&params)?).await.map_err(refuse)
    })?;
    module.register_async_method("getSessionChildren", |params, services, _| async move {
        let Children { session_id, limit, cursor } = read(&params)?;
        lists::children(&services, &session_id, cursor.as_deref(), limit).await.map_err(refuse)
    })?;
    module.register_async_method("getSession", |params, services, _| async move {
        get_session(&services, read(&params)?).await.map_err(refuse)
    })?;
    module.register_async_method("resolveSession", |params, services, _| async move {
        let Resolve { session_id, inspect } = read(&params)?;
        let intent = if inspect { Intent::Inspect } else { Intent::Navigate };
        resolve(&services, &session_id, EntryPoint::DirectOpen, intent).await.map_err(refuse)
    })?;
    module.register_async_method("auditRecovery", |_, services, _| async move {
        services.auditor().audit().await.map_err(|error| refuse(error.into()))
    })?;
    Ok(module)
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct List {
    limit: Option<u32>,
    cursor: Option<String>,
}

async fn list_sessions(services: &Services, list: List) -> Result<SessionPage, ServiceError> {
    let List { limit, cursor } = list;
    lists::list(services, &ListQuery { limit, cursor, ..ListQuery::default() }).await
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Leaves {
    include_forks: bool,
    limit: Option<u32>,
    cursor: Option<String>,
}

async fn get_session_leaves(
    services: &Services,
    leaves: Leaves,
) -> Result<SessionPage, ServiceError> {
    let Leaves { include_forks, limit, cursor } = leaves;
    let query = ListQuery { view: ListView::Leaves, include_forks, limit, cursor };
    lists::list(services, &query).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Children {
    session_id: SessionId,
    #[serde(default)]
    limit: Option<u32>,
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct One {
    session_id: SessionId,
}

async fn get_session(services: &Services, one: One) -> Result<Session, ServiceError> {
    conversations::row(services, &one.session_id).await
}

#[derive(Deserialize)]
struct Resolve {
    session_id: String,
    #[serde(default)]
    inspect: bool,
}

/// Reads named or positional parameters; where all are optional they may be absent.
fn read<T: DeserializeOwned>(params: &Params<'_>) -> Result<T, ErrorObjectOwned> {
    match params.as_str() {
        None | Some("null") => Params::new(Some("{}")).parse(),
        Some(_) => params.parse(),
    }
}

fn refuse(error: ServiceError) -> ErrorObjectOwned {
    let code = match error.0.code {
        FailureCode::InvalidRequest | FailureCode::InvalidId => INVALID_PARAMS_CODE,
        FailureCode::NotFound | FailureCode::SessionNotFound => NOT_FOUND,
        FailureCode::Internal => INTERNAL_ERROR_CODE,
        _ => REFUSED,
    };
    ErrorObjectOwned::owned(code, error.0.message.clone(), Some(error.0))
}
