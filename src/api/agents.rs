//! What a conversation can begin with.

use leptos::prelude::*;
use leptos::server_fn::codec::Post;

use crate::wire::error::Failure;
use crate::wire::rest::NewOffer;
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
