//! The way of an address: another form of a conversation's address, or that of another row of its
//! lineage, leads to the right one before anything is rendered.

use axum::extract::{Request, State};
use axum::http::{Method, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};

use crate::domain::resolver::{
    EntryPoint, Intent, Outcome, Resolution, Supplied, requested_at_boot,
};
use crate::server::resolution::resolve;
use crate::server::state::Services;

/// Redirects where the resolver says that another address is meant.
pub async fn canonical_address(
    State(services): State<Services>,
    request: Request,
    next: Next,
) -> Response {
    let uri = request.uri();
    let wanted = matches!(*request.method(), Method::GET | Method::HEAD).then(|| wanted(uri));
    let Some((id, entry_point, intent)) = wanted.flatten() else {
        return next.run(request).await;
    };
    // A store that does not answer is the page's own error to show.
    let address = match resolve(&services, id, entry_point, intent).await {
        Ok(resolution) => Some(address_of(&resolution, id)),
        Err(_) => None,
    };
    match address {
        Some(address) if address != uri.path() => {
            Redirect::temporary(&with_message(address, uri)).into_response()
        }
        _ => next.run(request).await,
    }
}

/// Gives the address of the row that is meant. What is missing or invalid keeps its own: the page
/// there says that the conversation is gone.
fn address_of(resolution: &Resolution, requested: &str) -> String {
    match (&resolution.session_id, resolution.outcome) {
        (Some(id), Outcome::Inspect) => format!("/archive/{id}"),
        (Some(id), _) => format!("/session/{id}"),
        (None, _) => format!("/session/{requested}"),
    }
}

/// Keeps the message that the address names, which the page brings into view.
fn with_message(address: String, uri: &Uri) -> String {
    match uri.query().and_then(|query| value_of(query, "message")) {
        Some(message) => format!("{address}?message={message}"),
        None => address,
    }
}

/// Finds what the address asks for: the route first, then either query spelling.
fn wanted(uri: &Uri) -> Option<(&str, EntryPoint, Intent)> {
    if let Some(id) = uri.path().strip_prefix("/archive/") {
        return Some((id, EntryPoint::Route, Intent::Inspect));
    }
    let route = uri.path().strip_prefix("/session/");
    if route.is_none() && uri.path() != "/" {
        return None;
    }
    let query = |name| value_of(uri.query()?, name);
    let supplied = Supplied {
        route,
        session: query("session"),
        session_id: query("session_id"),
        storage: None,
    };
    let request = requested_at_boot(&supplied);
    Some((request.id?, request.entry_point, request.intent))
}

fn value_of<'query>(query: &'query str, name: &str) -> Option<&'query str> {
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(key, _)| *key == name).map(|(_, value)| value).next()
}
