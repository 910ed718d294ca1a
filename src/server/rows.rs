//! What people do with several rows of the list at once.

use super::conversations::{delete, patch, restore};
use super::error::ServiceError;
use super::state::Services;
use crate::domain::ids::SessionId;
use crate::wire::error::FailureCode;
use crate::wire::list::RowAction;
use crate::wire::rest::SessionPatch;

/// How many rows can be changed at once.
const MOST_ROWS: usize = 1_000;

/// Does something with rows, one after the other, and gives those that it was done with: what is
/// gone already is left out.
pub async fn act(
    services: &Services,
    ids: Vec<SessionId>,
    action: &RowAction,
) -> Result<Vec<SessionId>, ServiceError> {
    if ids.len() > MOST_ROWS {
        let message = "At most 1,000 conversations can be changed at once.";
        return Err(ServiceError::refused(FailureCode::InvalidRequest, message));
    }
    let mut done = Vec::with_capacity(ids.len());
    for id in ids {
        match act_on(services, &id, action).await {
            Ok(()) => done.push(id),
            Err(error) if error.0.code == FailureCode::SessionNotFound => {}
            Err(error) => return Err(error),
        }
    }
    if done.is_empty() {
        return Err(ServiceError::no_session());
    }
    Ok(done)
}

async fn act_on(
    services: &Services,
    id: &SessionId,
    action: &RowAction,
) -> Result<(), ServiceError> {
    let change = match action {
        RowAction::Delete => return delete(services, id).await,
        RowAction::Restore => return restore(services, id).await.map(drop),
        RowAction::Rename(title) => {
            SessionPatch { title: Some(title.clone()), ..SessionPatch::default() }
        }
        RowAction::Pin(pinned) => SessionPatch { pinned: Some(*pinned), ..SessionPatch::default() },
        RowAction::Archive(archived) => {
            SessionPatch { archived: Some(*archived), ..SessionPatch::default() }
        }
    };
    patch(services, id, change).await.map(drop)
}
