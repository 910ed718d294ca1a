//! What a conversation can begin with, and what its agent offers.

use leptos::prelude::*;
use leptos::server_fn::codec::Post;

use crate::domain::ids::SessionId;
use crate::wire::error::Failure;
use crate::wire::rest::{AgentFacts, EarlierConversation, ImportRequest, NewOffer};
use crate::wire::text_json::TextJson;

/// Tells which agents and folders there are to choose from.
#[server(name = ReadOffer, prefix = "/fn", endpoint = "offer", input = Post<TextJson>, output = Post<TextJson>)]
pub async fn offer() -> Result<NewOffer, Failure> {
    use crate::server::{error::ServiceError, offers, state::Services};
    offers::offer(&Services::from_context()?).await.map_err(ServiceError::tell)
}

/// Offers the allowed folders whose path begins with what was typed.
#[server(name = CompleteFolder, prefix = "/fn", endpoint = "complete_folder", input = Post<TextJson>, output = Post<TextJson>)]
pub async fn complete_folder(typed: String) -> Result<Vec<String>, Failure> {
    use crate::server::state::Services;
    Ok(Services::from_context()?.folders.complete(&typed))
}

/// Lists the conversations that an agent remembers in a folder.
#[server(name = ListEarlier, prefix = "/fn", endpoint = "earlier_conversations", input = Post<TextJson>, output = Post<TextJson>)]
pub async fn earlier_conversations(
    agent: String,
    workspace: String,
) -> Result<Vec<EarlierConversation>, Failure> {
    use crate::server::{error::ServiceError, import, state::Services};
    let services = Services::from_context()?;
    import::remembered(&services, &agent, Some(&workspace)).await.map_err(ServiceError::tell)
}

/// Brings a conversation in that an agent remembers, and tells which row it is.
#[server(name = BringIn, prefix = "/fn", endpoint = "import", input = Post<TextJson>, output = Post<TextJson>)]
pub async fn bring_in(request: ImportRequest) -> Result<SessionId, Failure> {
    use crate::server::{error::ServiceError, import, state::Services};
    let services = Services::from_context()?;
    let row = import::import(&services, request).await.map_err(ServiceError::tell)?;
    Ok(row.session_id)
}

/// Tells what a conversation's agent offers: options and commands. One that does not run is started.
#[server(name = ReadAgentFacts, prefix = "/fn", endpoint = "agent_facts", input = Post<TextJson>, output = Post<TextJson>)]
pub async fn agent_facts(session_id: SessionId) -> Result<AgentFacts, Failure> {
    use crate::server::{conversations, error::ServiceError, state::Services};
    let services = Services::from_context()?;
    conversations::roused_agent_facts(&services, &session_id).await.map_err(ServiceError::tell)
}
