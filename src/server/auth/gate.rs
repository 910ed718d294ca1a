//! Lets only those in who are signed in.

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use axum::{Json, http};
use futures::StreamExt;

use super::{Auth, NotSignedIn, SignedIn};
use crate::server::state::Services;

/// What can be seen without being signed in, besides the app's own files.
const OPEN: [&str; 3] = ["/login", "/pair", "/healthz"];

/// Asks whoever is not signed in to do so: a reader by leading there and back, a program by
/// status 401.
pub async fn gate(State(services): State<Services>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    if !services.auth.is_required() || OPEN.contains(&path) || services.assets.has(path) {
        return next.run(request).await;
    }
    match services.auth.identify(request.headers(), request.extensions()).await {
        Ok(who) => {
            request.extensions_mut().insert(who.clone());
            until_signed_out(next.run(request).await, &services.auth, who)
        }
        Err(NotSignedIn::Wrong) if is_page(&request) => {
            Redirect::to(&sign_in_address(request.uri())).into_response()
        }
        Err(refused) => refuse(request.uri(), refused),
    }
}

/// Gives the address at which a reader signs in and is led back from.
fn sign_in_address(wanted: &http::Uri) -> String {
    let wanted = wanted.path_and_query().map_or("/", |wanted| wanted.as_str());
    if wanted == "/" {
        return "/login".to_owned();
    }
    let mut address = "/login?next=".to_owned();
    for byte in wanted.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                address.push(byte as char);
            }
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

fn is_page(request: &Request) -> bool {
    let path = request.uri().path();
    let door = path == "/ws"
        || path == "/rpc"
        || ["/api/", "/fn/"].iter().any(|prefix| path.starts_with(prefix));
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    !door && reads
}

/// Speaks to each door in its own shape: functions of the app read a bare failure.
fn refuse(uri: &http::Uri, refused: NotSignedIn) -> Response {
    let wait = match &refused {
        NotSignedIn::Wait(wait) => Some(wait.as_secs() + 1),
        _ => None,
    };
    let error = refused.into_failure();
    let status = error.status();
    let mut response = if uri.path().starts_with("/fn/") {
        (status, Json(error.0)).into_response()
    } else {
        error.into_response()
    };
    let headers = response.headers_mut();
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let Some(wait) = wait {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(wait));
    }
    response
}

/// Ends a stream of events when its reader is signed out.
fn until_signed_out(response: Response, auth: &Auth, who: SignedIn) -> Response {
    if !is_stream(response.headers()) {
        return response;
    }
    let end = Box::pin(auth.clone().until_signed_out(Some(who)));
    response.map(|body| Body::from_stream(body.into_data_stream().take_until(end)))
}

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}
