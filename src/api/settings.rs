//! What the settings page shows.

use leptos::prelude::*;
use leptos::server_fn::codec::Post;

use crate::wire::error::Failure;
use crate::wire::rest::About;
use crate::wire::text_json::TextJson;

/// Tells about the server.
#[server(name = ReadAbout, prefix = "/fn", endpoint = "about", input = Post<TextJson>, output = Post<TextJson>)]
pub async fn about() -> Result<About, Failure> {
    use crate::server::{about, auth, error::ServiceError, state::Services};
    let services = Services::from_context()?;
    about::about(&services, auth::of_context()).await.map_err(ServiceError::tell)
}
