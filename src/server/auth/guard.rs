//! Turns away what another site's page could have caused.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::server::error::ServiceError;
use crate::server::state::Services;
use crate::wire::error::FailureCode;

/// Refuses a foreign `Host` (a name that was made to point here) and, where something would
/// change, a foreign `Origin`.
pub async fn guard(State(services): State<Services>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let changes = !matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS)
        || headers.contains_key(header::UPGRADE);
    let host = text(headers, &header::HOST);
    if !host.is_some_and(|host| services.config.access.answers_to(host)) {
        return refuse("This server only answers under its own address.");
    }
    if changes && !origin_matches_host(headers) {
        return refuse("This request came from another site's page.");
    }
    next.run(request).await
}

fn refuse(message: &str) -> Response {
    ServiceError::refused(FailureCode::ForbiddenOrigin, message).into_response()
}

fn text<'a>(headers: &'a HeaderMap, name: &header::HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

/// A program that is no browser sends no `Origin` and is let through.
fn origin_matches_host(headers: &HeaderMap) -> bool {
    let Some(origin) = text(headers, &header::ORIGIN) else {
        return !headers.contains_key(header::ORIGIN);
    };
    let host = text(headers, &header::HOST).unwrap_or_default();
    let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    authority.is_some_and(|authority| authority.eq_ignore_ascii_case(host))
}
