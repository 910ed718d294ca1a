//! Views of the session list, and the trees behind it.

use leptos::prelude::*;
use leptos::server_fn::codec::Post;

use crate::domain::ids::SessionId;
use crate::wire::error::Failure;
use crate::wire::list::{ListQuery, Overview, SessionTrees, TreeQuery};
use crate::wire::rest::SessionPage;
use crate::wire::text_json::TextJson;

/// Reads what the list begins with: the newest leaves, what runs or is pinned, and the counts.
#[server(name = ReadOverview, prefix = "/fn", endpoint = "overview", input = Post<TextJson>, output = Post<TextJson>)]
pub async fn overview() -> Result<Overview, Failure> {
    use crate::server::{error::ServiceError, lists, state::Services};
    lists::overview(&Services::from_context()?).await.map_err(ServiceError::tell)
}

/// Reads a page of a view.
#[server(name = ReadList, prefix = "/fn", endpoint = "list", input = Post<TextJson>, output = Post<TextJson>)]
pub async fn list(query: ListQuery) -> Result<SessionPage, Failure> {
    use crate::server::{error::ServiceError, lists, state::Services};
    lists::list(&Services::from_context()?, &query).await.map_err(ServiceError::tell)
}

/// Reads a page of the rows that hang on a row.
#[server(name = ReadChildren, prefix = "/fn", endpoint = "children", input = Post<TextJson>, output = Post<TextJson>)]
pub async fn children(
    session_id: SessionId,
    cursor: Option<String>,
) -> Result<SessionPage, Failure> {
    use crate::server::{error::ServiceError, lists, state::Services};
    let services = Services::from_context()?;
    let page = lists::children(&services, &session_id, cursor.as_deref(), None).await;
    page.map_err(ServiceError::tell)
}

/// Reads trees of sessions.
#[server(name = ReadTrees, prefix = "/fn", endpoint = "trees", input = Post<TextJson>, output = Post<TextJson>)]
pub async fn trees(query: TreeQuery) -> Result<SessionTrees, Failure> {
    use crate::server::{error::ServiceError, lists, state::Services};
    lists::trees(&Services::from_context()?, &query).await.map_err(ServiceError::tell)
}
