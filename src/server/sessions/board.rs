//! Where changes of session rows are posted for every open list.

use std::sync::Arc;

use tokio::sync::broadcast;

use super::task::TaskMeta;
use crate::domain::ids::SessionId;
use crate::domain::session::Session;
use crate::server::store::{Store, StoreError};

/// How many changes a list may be behind before it has to fetch anew.
const CHANGES_BEHIND: usize = 1024;

#[derive(Debug, Clone, PartialEq)]
pub enum ListChange {
    Changed(Arc<Session>),
    Removed(SessionId),
}

#[derive(Debug, Clone)]
pub struct Board {
    store: Store,
    changes: broadcast::Sender<ListChange>,
}

impl Board {
    pub fn new(store: Store) -> Self {
        Self { store, changes: broadcast::Sender::new(CHANGES_BEHIND) }
    }

    pub fn watch(&self) -> broadcast::Receiver<ListChange> {
        self.changes.subscribe()
    }

    /// Posts a row as it is stored, with what its task knows of it.
    pub async fn post(&self, id: &SessionId, meta: Option<&TaskMeta>) -> Result<(), StoreError> {
        if self.changes.receiver_count() == 0 {
            return Ok(());
        }
        let change = match self.store.session(id).await? {
            Some(mut session) => {
                if let Some(meta) = meta {
                    meta.show_on(&mut session);
                }
                ListChange::Changed(Arc::new(session))
            }
            None => ListChange::Removed(id.clone()),
        };
        // An error means that the last list was closed meanwhile.
        let _ = self.changes.send(change);
        Ok(())
    }
}
