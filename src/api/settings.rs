//! What the settings page shows.

use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;

use crate::wire::error::Failure;
use crate::wire::rest::About;

/// Tells about the server.
#[server(name = ReadAbout, prefix = "/fn", endpoint = "about", input = GetUrl)]
pub async fn about() -> Result<About, Failure> {
    use crate::server::{conversations, state::Services};
    Ok(conversations::about(&Services::from_context()?))
}
