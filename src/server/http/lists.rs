//! The REST door to lists, trees and search.

use axum::Json;
use axum::extract::State;
use serde::Deserialize;

use super::Answer;
use super::extract::{Path, Query};
use crate::domain::ids::SessionId;
use crate::server::error::ServiceError;
use crate::server::state::Services;
use crate::server::{conversations, lists};
use crate::wire::error::FailureCode;
use crate::wire::list::{ListQuery, ListView, Overview, SessionTrees, TreeQuery, ViewCounts};
use crate::wire::rest::{SearchHit, SessionPage};

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub struct SessionsQuery {
    view: ListView,
    include_forks: bool,
    limit: Option<u32>,
    cursor: Option<String>,
    /// Words to look for instead; the best answers are one page.
    q: Option<String>,
}

pub async fn list_sessions(
    State(services): State<Services>,
    Query(query): Query<SessionsQuery>,
) -> Answer<SessionPage> {
    let SessionsQuery { view, include_forks, limit, cursor, q } = query;
    let Some(words) = q else {
        let query = ListQuery { view, include_forks, limit, cursor };
        return Ok(Json(lists::list(&services, &query).await?));
    };
    if cursor.is_some() {
        let message = "What a search finds is one page.";
        return Err(ServiceError::refused(FailureCode::InvalidRequest, message));
    }
    let hits = conversations::search(&services, &words).await?.into_iter();
    let sessions = hits.map(|hit| hit.session).take(lists::page_size(limit) as usize).collect();
    Ok(Json(SessionPage { sessions, next_cursor: None }))
}

pub async fn overview(State(services): State<Services>) -> Answer<Overview> {
    Ok(Json(lists::overview(&services, ListView::Leaves).await?))
}

pub async fn counts(State(services): State<Services>) -> Answer<ViewCounts> {
    Ok(Json(lists::counts(&services).await?))
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub struct PageOfChildren {
    limit: Option<u32>,
    cursor: Option<String>,
}

pub async fn children(
    State(services): State<Services>,
    Path(id): Path<SessionId>,
    Query(query): Query<PageOfChildren>,
) -> Answer<SessionPage> {
    let page = lists::children(&services, &id, query.cursor.as_deref(), query.limit).await?;
    Ok(Json(page))
}

pub async fn trees(
    State(services): State<Services>,
    Query(query): Query<TreeQuery>,
) -> Answer<SessionTrees> {
    Ok(Json(lists::trees(&services, &query).await?))
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub struct DepthQuery {
    max_depth: Option<u32>,
}

pub async fn tree(
    State(services): State<Services>,
    Path(id): Path<SessionId>,
    Query(query): Query<DepthQuery>,
) -> Answer<SessionTrees> {
    let max_depth = query.max_depth;
    let query = TreeQuery { root_id: Some(id), max_depth, ..TreeQuery::default() };
    Ok(Json(lists::trees(&services, &query).await?))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchQuery {
    q: String,
}

pub async fn search(
    State(services): State<Services>,
    Query(query): Query<SearchQuery>,
) -> Answer<Vec<SearchHit>> {
    Ok(Json(conversations::search(&services, &query.q).await?))
}
