//! Views of the session list, and the trees behind it.

use leptos::prelude::*;
use leptos::server_fn::codec::Post;

use crate::domain::ids::SessionId;
use crate::wire::error::Failure;
use crate::wire::list::{ListQuery, ListView, Overview, RowAction, SessionTrees, TreeQuery};
use crate::wire::rest::SessionPage;
use crate::wire::text_json::TextJson;

/// Reads what the list begins with: the newest rows of a view, what always stands in it, the counts.
#[server(name = ReadOverview, prefix = "/fn", endpoint = "overview", input = Post<TextJson>, output = Post<TextJson>)]
pub async fn overview(view: ListView) -> Result<Overview, Failure> {
    use crate::server::{error::ServiceError, lists, state::Services};
    lists::overview(&Services::from_context()?, view).await.map_err(ServiceError::tell)
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

/// Does something with rows of the list, and gives those that it was done with.
#[server(name = Act, prefix = "/fn", endpoint = "act", input = Post<TextJson>, output = Post<TextJson>)]
pub async fn act(ids: Vec<SessionId>, action: RowAction) -> Result<Vec<SessionId>, Failure> {
    use crate::server::{error::ServiceError, rows, state::Services};
    rows::act(&Services::from_context()?, ids, &action).await.map_err(ServiceError::tell)
}
