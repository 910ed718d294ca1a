//! Where changes of session rows are posted for every open list.

use std::sync::Arc;

use tokio::sync::{broadcast, watch};

use super::chronicle::{Chronicle, Happened};
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
    chronicle: Chronicle,
    stopped: watch::Sender<bool>,
}

impl Board {
    pub fn new(store: Store) -> Self {
        Self {
            store,
            changes: broadcast::Sender::new(CHANGES_BEHIND),
            chronicle: Chronicle::default(),
            stopped: watch::Sender::new(false),
        }
    }

    pub fn watch(&self) -> broadcast::Receiver<ListChange> {
        self.changes.subscribe()
    }

    pub fn chronicle(&self) -> &Chronicle {
        &self.chronicle
    }

    /// Tells when the server stops, to those who would otherwise read for ever.
    pub fn stopped(&self) -> watch::Receiver<bool> {
        self.stopped.subscribe()
    }

    pub fn stop(&self) {
        self.stopped.send_replace(true);
    }

    /// Posts a row as it is stored, with what its task knows of it.
    pub async fn post(
        &self,
        happened: Happened,
        id: &SessionId,
        meta: Option<&TaskMeta>,
    ) -> Result<(), StoreError> {
        if self.changes.receiver_count() == 0 && !self.chronicle.is_read() {
            self.chronicle.record(happened, id, None);
            return Ok(());
        }
        let change = match self.store.session(id).await? {
            Some(mut session) => {
                if let Some(meta) = meta {
                    meta.show_on(&mut session);
                }
                let session = Arc::new(session);
                self.chronicle.record(happened, id, Some(session.clone()));
                ListChange::Changed(session)
            }
            None => {
                self.chronicle.record(Happened::Removed, id, None);
                ListChange::Removed(id.clone())
            }
        };
        // An error means that the last list was closed meanwhile.
        let _ = self.changes.send(change);
        Ok(())
    }
}
