//! How conversations hang together.

use leptos::prelude::*;
use leptos::server_fn::codec::Post;

use crate::domain::ids::{MessageId, SessionId};
use crate::domain::session::Session;
use crate::wire::error::Failure;
use crate::wire::rest::Timeline;
use crate::wire::text_json::TextJson;

/// Reads the parts and branches of a conversation.
#[server(name = ReadTimeline, prefix = "/fn", endpoint = "timeline", input = Post<TextJson>, output = Post<TextJson>)]
pub async fn timeline(session_id: SessionId) -> Result<Timeline, Failure> {
    use crate::server::{conversations, error::ServiceError, state::Services};
    let services = Services::from_context()?;
    conversations::timeline(&services, &session_id).await.map_err(ServiceError::tell)
}

/// Branches a conversation off after a message.
#[server(name = ForkAfter, prefix = "/fn", endpoint = "fork_session", input = Post<TextJson>, output = Post<TextJson>)]
pub async fn fork_session(
    session_id: SessionId,
    message_id: MessageId,
) -> Result<Session, Failure> {
    use crate::server::{conversations, error::ServiceError, state::Services};
    let services = Services::from_context()?;
    let fork = conversations::fork(&services, &session_id, Some(&message_id)).await;
    fork.map_err(ServiceError::tell)
}
