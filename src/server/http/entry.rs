//! The way of an address: an old form of a conversation's address leads to its present one before
//! anything is rendered.

use axum::extract::{Request, State};
use axum::http::{Method, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};

use crate::domain::ids::SessionId;
use crate::server::state::Services;

/// Redirects `/?session=…`, `/?session_id=…` and the address of an earlier part.
pub async fn canonical_address(
    State(services): State<Services>,
    request: Request,
    next: Next,
) -> Response {
    if *request.method() != Method::GET {
        return next.run(request).await;
    }
    let Some(requested) = requested_id(request.uri()) else {
        return next.run(request).await;
    };
    let place = match services.store.session(&requested).await {
        Ok(Some(session)) => session.canonical_visible_session_id.unwrap_or(requested),
        // The page itself says that the conversation is gone, or that the store did not answer.
        Ok(None) | Err(_) => requested,
    };
    let address = format!("/session/{place}");
    if request.uri().path() == address {
        return next.run(request).await;
    }
    Redirect::temporary(&address).into_response()
}

/// Finds what the address asks for: the route first, then either query spelling.
fn requested_id(uri: &Uri) -> Option<SessionId> {
    if let Some(id) = uri.path().strip_prefix("/session/") {
        return SessionId::parse(id).ok();
    }
    if uri.path() != "/" {
        return None;
    }
    let query = uri.query()?;
    ["session", "session_id"].into_iter().find_map(|wanted| {
        let value = query.split('&').find_map(|pair| {
            pair.split_once('=').filter(|(name, _)| *name == wanted).map(|(_, value)| value)
        })?;
        SessionId::parse(value).ok()
    })
}
