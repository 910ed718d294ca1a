//! What flows to a browser by itself: events of sessions it looks at, and changes of rows.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::broadcast::{self, error::RecvError};
use tokio::sync::mpsc::{self, error::SendError};

use crate::domain::ids::{Epoch, Seq, SessionId};
use crate::domain::session::Session;
use crate::server::sessions::{Feed, ListChange, Numbered, Registry, Replay};
use crate::wire::socket::{Meta, ServerFrame};

/// Changes of rows within this time go out as one frame.
const GATHER_CHANGES: Duration = Duration::from_millis(50);

/// The way of one session's events to one connection.
pub struct Line {
    pub session_id: SessionId,
    pub epoch: Epoch,
    pub frames: mpsc::Sender<ServerFrame>,
}

impl Line {
    /// Sends what was missed, then what follows, until the session or the connection ends.
    pub async fn forward(self, feed: Feed) -> Result<(), SendError<ServerFrame>> {
        let Feed { replay, mut events, .. } = feed;
        match replay {
            Replay::Missed(missed) => {
                for numbered in &missed {
                    self.frames.send(self.frame(numbered, true)).await?;
                }
            }
            Replay::Gap { oldest, latest } => self.frames.send(self.gap(oldest, latest)).await?,
        }
        loop {
            match events.recv().await {
                Ok(numbered) => self.frames.send(self.frame(&numbered, false)).await?,
                // This reader fell behind: it alone loses events, and is told so.
                Err(RecvError::Lagged(_)) => {
                    events = events.resubscribe();
                    self.frames.send(self.gap(Seq::default(), Seq::default())).await?;
                }
                Err(RecvError::Closed) => return Ok(()),
            }
        }
    }

    fn frame(&self, numbered: &Arc<Numbered>, replay: bool) -> ServerFrame {
        ServerFrame::RpcEvent {
            session_id: self.session_id.clone(),
            epoch: self.epoch.clone(),
            seq: numbered.seq,
            event: numbered.event.clone(),
            replay,
        }
    }

    fn gap(&self, oldest_seq: Seq, latest_seq: Seq) -> ServerFrame {
        ServerFrame::RpcReplayGap {
            session_id: self.session_id.clone(),
            epoch: self.epoch.clone(),
            oldest_seq,
            latest_seq,
        }
    }
}

/// Sends changes of rows, several at once where they come close together. A reader that fell
/// behind is disconnected: on its return it fetches the list anew.
pub async fn forward_changes(
    mut changes: broadcast::Receiver<ListChange>,
    frames: mpsc::Sender<ServerFrame>,
) {
    while let Ok(first) = changes.recv().await {
        tokio::time::sleep(GATHER_CHANGES).await;
        let mut gathered = vec![first];
        while let Ok(change) = changes.try_recv() {
            gathered.push(change);
        }
        if frames.send(sessions_changed(gathered)).await.is_err() {
            return;
        }
    }
}

/// Sends what a background row needs of one session, each time that it changes.
pub async fn forward_meta(
    session_id: SessionId,
    registry: Registry,
    mut changes: broadcast::Receiver<ListChange>,
    frames: mpsc::Sender<ServerFrame>,
) {
    let mut last = None;
    loop {
        let row = match changes.recv().await {
            Ok(ListChange::Changed(row)) if row.session_id == session_id => row,
            Ok(ListChange::Removed(id)) if id == session_id => {
                let _ = frames.send(ServerFrame::RpcSessionNotFound { session_id }).await;
                return;
            }
            Ok(_) | Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        let meta = meta_of(&row, registry.latest_seq(&session_id));
        if last.as_ref() == Some(&meta) {
            continue;
        }
        last = Some(meta.clone());
        if frames.send(ServerFrame::SessionMeta(meta)).await.is_err() {
            return;
        }
    }
}

pub fn meta_of(row: &Session, seq: Seq) -> Meta {
    Meta {
        session_id: row.session_id.clone(),
        seq,
        status: row.status,
        milestone: row.milestone,
        title: row.title.clone(),
        last_activity_at: row.last_activity_at,
        open_questions: row.open_questions,
    }
}

/// Keeps the newest state of each row only.
fn sessions_changed(changes: Vec<ListChange>) -> ServerFrame {
    let mut changed: Vec<Session> = Vec::new();
    let mut removed = Vec::new();
    for change in changes {
        match change {
            ListChange::Changed(session) => {
                changed.retain(|known| known.session_id != session.session_id);
                changed.push(*session);
            }
            ListChange::Removed(id) => {
                changed.retain(|known| known.session_id != id);
                removed.push(id);
            }
        }
    }
    ServerFrame::SessionsChanged { changed, removed }
}
