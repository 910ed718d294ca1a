//! Conversations.

use leptos::prelude::*;
use leptos::server_fn::codec::Post;

use crate::domain::ids::{MessageId, SessionId};
use crate::domain::resolver::Resolution;
use crate::domain::session::Session;
use crate::wire::error::Failure;
use crate::wire::rest::{SearchHit, SessionPage, Transcript};
use crate::wire::text_json::TextJson;

/// Reads a page of the list, or the rows of some sessions, where what is gone is left out.
#[server(prefix = "/fn", endpoint = "list_sessions", input = Post<TextJson>, output = Post<TextJson>)]
pub async fn list_sessions(
    cursor: Option<String>,
    only: Vec<SessionId>,
) -> Result<SessionPage, Failure> {
    use crate::server::{conversations, error::ServiceError, lists, state::Services};
    use crate::wire::list::ListQuery;
    let services = Services::from_context()?;
    let page = if only.is_empty() {
        lists::list(&services, &ListQuery { cursor, ..ListQuery::default() }).await
    } else {
        conversations::rows(&services, &only).await
    };
    page.map_err(ServiceError::tell)
}

/// Finds conversations by words of their titles and messages.
#[server(
    prefix = "/fn",
    endpoint = "search_sessions",
    input = Post<TextJson>,
    output = Post<TextJson>
)]
pub async fn search_sessions(words: String) -> Result<Vec<SearchHit>, Failure> {
    use crate::server::{conversations, error::ServiceError, state::Services};
    let services = Services::from_context()?;
    conversations::search(&services, &words).await.map_err(ServiceError::tell)
}

/// Reads the conversation that a requested id leads to, or a page of it that ends before a message.
#[server(
    prefix = "/fn",
    endpoint = "open_session",
    input = Post<TextJson>,
    output = Post<TextJson>
)]
pub async fn open_session(
    requested: String,
    before: Option<MessageId>,
) -> Result<Transcript, Failure> {
    use crate::domain::resolver::Intent;
    use crate::server::{conversations, error::ServiceError, state::Services};
    let services = Services::from_context()?;
    let opened =
        conversations::open_requested(&services, &requested, Intent::Navigate, before.as_ref());
    opened.await.map_err(ServiceError::tell)
}

/// Tells which row a requested id leads to.
#[server(
    prefix = "/fn",
    endpoint = "resolve_session",
    input = Post<TextJson>,
    output = Post<TextJson>
)]
pub async fn resolve_session(requested: String) -> Result<Resolution, Failure> {
    use crate::domain::resolver::{EntryPoint, Intent};
    use crate::server::{error::ServiceError, resolution::resolve, state::Services};
    let services = Services::from_context()?;
    let resolution = resolve(&services, &requested, EntryPoint::Storage, Intent::Navigate);
    resolution.await.map_err(ServiceError::tell)
}

/// Reads an earlier part of a conversation as the record it is.
#[server(
    prefix = "/fn",
    endpoint = "inspect_session",
    input = Post<TextJson>,
    output = Post<TextJson>
)]
pub async fn inspect_session(requested: String) -> Result<Transcript, Failure> {
    use crate::domain::resolver::Intent;
    use crate::server::{conversations, error::ServiceError, state::Services};
    let services = Services::from_context()?;
    let opened = conversations::open_requested(&services, &requested, Intent::Inspect, None);
    opened.await.map_err(ServiceError::tell)
}

/// Makes a new conversation; what is not chosen is as it was last time.
#[server(
    prefix = "/fn",
    endpoint = "new_session",
    input = Post<TextJson>,
    output = Post<TextJson>
)]
pub async fn new_session(
    agent: Option<String>,
    workspace: Option<String>,
) -> Result<Session, Failure> {
    use crate::server::{error::ServiceError, offers, state::Services};
    use crate::wire::rest::NewSession;
    let services = Services::from_context()?;
    let request = NewSession { agent, workspace, title: None };
    offers::create_as_before(&services, request).await.map_err(ServiceError::tell)
}
