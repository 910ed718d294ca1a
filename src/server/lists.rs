//! What lists show of the stored sessions: pages of each view, trees and counts.

use std::collections::{HashMap, HashSet};

use super::error::ServiceError;
use super::state::Services;
use super::store::ListCursor;
use crate::domain::ids::SessionId;
use crate::domain::list::newest_first;
use crate::domain::session::Session;
use crate::domain::time::Timestamp;
use crate::wire::error::FailureCode;
use crate::wire::list::{
    ListQuery, ListView, Overview, SessionTrees, TreeNode, TreeQuery, ViewCounts,
};
use crate::wire::rest::SessionPage;

/// How many rows a page has unless asked otherwise, and at most.
pub const PAGE: u32 = 50;
const LARGEST_PAGE: u32 = 200;

/// How many generations a tree tells at most: readers of JSON give up on deeper ones.
const DEEPEST_TREE: u32 = 50;

/// How many rows all trees of an answer have together.
const LARGEST_TREE: u32 = 2_000;

/// Reads one page of a view.
pub async fn list(services: &Services, query: &ListQuery) -> Result<SessionPage, ServiceError> {
    let cursor = read_cursor(query.cursor.as_deref())?;
    let limit = page_size(query.limit);
    let store = &services.store;
    let mut sessions = store.list_sessions(query.view, cursor.as_ref(), limit + 1).await?;
    if query.include_forks && query.view == ListView::Leaves {
        sessions.extend(store.fork_points(cursor.as_ref(), limit + 1).await?);
        sessions.sort_by(newest_first);
    }
    Ok(page(services, sessions, limit))
}

/// Reads one page of the rows that hang on a row, oldest first.
pub async fn children(
    services: &Services,
    parent: &SessionId,
    cursor: Option<&str>,
    limit: Option<u32>,
) -> Result<SessionPage, ServiceError> {
    let cursor = read_cursor(cursor)?;
    let limit = page_size(limit);
    services.store.session(parent).await?.ok_or_else(ServiceError::no_session)?;
    let sessions = services.store.children(parent, cursor.as_ref(), limit + 1).await?;
    Ok(page(services, sessions, limit))
}

/// Reads what the app's list begins with; in the view of leaves that is also what runs, waits or is
/// pinned.
pub async fn overview(services: &Services, view: ListView) -> Result<Overview, ServiceError> {
    let page = list(services, &ListQuery { view, ..ListQuery::default() }).await?;
    let always = match view {
        ListView::Leaves => always(services, &page).await?,
        _ => Vec::new(),
    };
    Ok(Overview { page, always, counts: counts(services).await? })
}

/// Reads what runs, waits or is pinned and is not on a page.
async fn always(services: &Services, page: &SessionPage) -> Result<Vec<Session>, ServiceError> {
    let mut always = services.store.pinned(LARGEST_PAGE).await?;
    for running in services.registry.running() {
        if running.status.is_running()
            && let Some(row) = services.store.session(&running.session_id).await?
        {
            always.push(row);
        }
    }
    let mut told: HashSet<_> = page.sessions.iter().map(|row| row.session_id.clone()).collect();
    always.retain(|row| told.insert(row.session_id.clone()));
    for row in &mut always {
        services.registry.show_on(row);
    }
    always.sort_by(newest_first);
    Ok(always)
}

/// Tells how many rows each view has.
pub async fn counts(services: &Services) -> Result<ViewCounts, ServiceError> {
    Ok(services.store.view_counts().await?)
}

/// Reads the tree below a row, or a page of all trees.
pub async fn trees(services: &Services, query: &TreeQuery) -> Result<SessionTrees, ServiceError> {
    let (roots, next_cursor) = match &query.root_id {
        Some(root) => {
            services.store.session(root).await?.ok_or_else(ServiceError::no_session)?;
            (vec![root.clone()], None)
        }
        None => {
            let cursor = read_cursor(query.cursor.as_deref())?;
            let limit = page_size(query.limit);
            let tops = services.store.tops(cursor.as_ref(), limit + 1).await?;
            let page = page(services, tops, limit);
            (page.sessions.into_iter().map(|row| row.session_id).collect(), page.next_cursor)
        }
    };
    let deepest = query.max_depth.unwrap_or(DEEPEST_TREE).min(DEEPEST_TREE);
    // One generation more than is told shows where rows are left out.
    let mut rows = services.store.rows_below(&roots, deepest + 1, LARGEST_TREE + 1).await?;
    let told = rows.len();
    rows.truncate(LARGEST_TREE as usize);
    rows.retain(|(_, depth)| *depth <= deepest);
    let truncated = rows.len() < told;
    for (row, _) in &mut rows {
        services.registry.show_on(row);
    }
    Ok(SessionTrees { trees: grow(&roots, rows), truncated, next_cursor })
}

/// Puts rows that come generation by generation together, the youngest first, so that each is whole
/// before its parent takes it.
fn grow(roots: &[SessionId], rows: Vec<(Session, u32)>) -> Vec<TreeNode> {
    let mut known = HashSet::new();
    let mut rows: Vec<_> =
        rows.into_iter().filter(|(row, _)| known.insert(row.session_id.clone())).collect();
    let mut waiting: HashMap<SessionId, Vec<TreeNode>> = HashMap::new();
    let mut tops = HashMap::new();
    while let Some((session, depth)) = rows.pop() {
        let mut children = waiting.remove(&session.session_id).unwrap_or_default();
        children.sort_by(|left, right| age(&left.session).cmp(&age(&right.session)));
        let parent = session.parent_session_id.clone().filter(|_| depth > 0);
        let node = TreeNode { session, children };
        match parent {
            Some(parent) => waiting.entry(parent).or_default().push(node),
            None => {
                tops.insert(node.session.session_id.clone(), node);
            }
        }
    }
    roots.iter().filter_map(|root| tops.remove(root)).collect()
}

fn age(session: &Session) -> (Timestamp, &SessionId) {
    (session.created_at, &session.session_id)
}

/// Makes a page of rows that were read with one more than it may have.
fn page(services: &Services, mut sessions: Vec<Session>, limit: u32) -> SessionPage {
    let more = sessions.len() > limit as usize;
    sessions.truncate(limit as usize);
    let last = sessions.last().filter(|_| more);
    let next_cursor = last.map(|last| ListCursor::after(last).to_string());
    for session in &mut sessions {
        services.registry.show_on(session);
    }
    SessionPage { sessions, next_cursor }
}

fn read_cursor(cursor: Option<&str>) -> Result<Option<ListCursor>, ServiceError> {
    cursor.map(str::parse).transpose().map_err(|()| {
        ServiceError::refused(FailureCode::InvalidRequest, "This list cursor is not valid.")
    })
}

pub(super) fn page_size(limit: Option<u32>) -> u32 {
    limit.unwrap_or(PAGE).clamp(1, LARGEST_PAGE)
}
