//! Conversations.

use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;

use crate::domain::ids::MessageId;
use crate::wire::error::Failure;
use crate::wire::rest::{SessionPage, Transcript};

/// Reads a page of the list.
#[server(prefix = "/fn", endpoint = "list_sessions", input = GetUrl)]
pub async fn list_sessions(cursor: Option<String>) -> Result<SessionPage, Failure> {
    use crate::server::{conversations, state::Services, store::ListView};
    let services = Services::from_context()?;
    let page = conversations::list(&services, ListView::Visible, cursor.as_deref(), None).await;
    page.map_err(|error| error.0)
}

/// Reads a conversation, or a page of it that ends before a message.
#[server(prefix = "/fn", endpoint = "open_session", input = GetUrl)]
pub async fn open_session(
    session_id: String,
    before: Option<MessageId>,
) -> Result<Transcript, Failure> {
    use crate::domain::ids::SessionId;
    use crate::server::{conversations, error::ServiceError, state::Services};
    let services = Services::from_context()?;
    let id = SessionId::parse(&session_id).map_err(|_| ServiceError::no_session().0)?;
    let transcript = conversations::open(&services, &id, before.as_ref(), None).await;
    transcript.map_err(|error| error.0)
}

/// Makes a new conversation and leads the reader to it.
#[server(prefix = "/fn", endpoint = "new_session")]
pub async fn new_session() -> Result<(), Failure> {
    use crate::server::{conversations, state::Services};
    use crate::wire::rest::NewSession;
    let services = Services::from_context()?;
    let session = conversations::create(&services, NewSession::default()).await;
    let session = session.map_err(|error| error.0)?;
    leptos_axum::redirect(&format!("/session/{}", session.session_id));
    Ok(())
}
