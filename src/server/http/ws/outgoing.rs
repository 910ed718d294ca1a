//! What flows to a browser by itself: events of sessions it looks at, and changes of rows.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::value::to_raw_value;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::mpsc::{self, error::SendError};

use crate::domain::ids::{Seq, SessionId};
use crate::domain::session::Session;
use crate::server::lock::lock;
use crate::server::sessions::{Feed, ListChange, Numbered, Registry, Replay};
use crate::wire::socket::{Meta, ServerFrame};

/// Changes of rows within this time go out as one frame.
const GATHER_CHANGES: Duration = Duration::from_millis(50);

/// The way of one session's events to one connection.
pub struct Line {
    pub session_id: SessionId,
    pub registry: Registry,
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
                    let latest = self.registry.latest_seq(&self.session_id);
                    self.frames.send(self.gap(latest, latest)).await?;
                }
                Err(RecvError::Closed) => return Ok(()),
            }
        }
    }

    fn frame(&self, numbered: &Arc<Numbered>, replay: bool) -> ServerFrame {
        // What cannot be written is fetched anew: silence is never an answer.
        let Ok(event) = to_raw_value(&numbered.event) else {
            return self.gap(numbered.seq, numbered.seq);
        };
        ServerFrame::RpcEvent {
            session_id: self.session_id.clone(),
            epoch: self.registry.epoch().clone(),
            seq: numbered.seq,
            event,
            replay,
        }
    }

    fn gap(&self, oldest_seq: Seq, latest_seq: Seq) -> ServerFrame {
        ServerFrame::RpcReplayGap {
            session_id: self.session_id.clone(),
            epoch: self.registry.epoch().clone(),
            oldest_seq,
            latest_seq,
        }
    }
}

/// The rows that a connection watches, and what it was last told of each.
pub type Watched = Arc<Mutex<HashMap<SessionId, Option<Meta>>>>;

/// The way of changed rows to one connection: all of them for its list, and the state of those that
/// it watches.
pub struct Rows {
    pub registry: Registry,
    pub watched: Watched,
    pub frames: mpsc::Sender<ServerFrame>,
}

impl Rows {
    /// Sends changes, several at once where they come close together. It ends when the reader fell
    /// behind, who must fetch the list anew.
    pub async fn forward(
        self,
        mut changes: broadcast::Receiver<ListChange>,
    ) -> Result<(), SendError<ServerFrame>> {
        let mut told = None;
        while let Ok(first) = changes.recv().await {
            tokio::time::sleep(GATHER_CHANGES).await;
            let mut gathered = vec![first];
            loop {
                match changes.try_recv() {
                    Ok(change) => gathered.push(change),
                    Err(TryRecvError::Empty) => break,
                    Err(TryRecvError::Lagged(_) | TryRecvError::Closed) => return Ok(()),
                }
            }
            let (changed, removed) = newest(gathered);
            for frame in self.news_of_watched(&changed, &removed) {
                self.frames.send(frame).await?;
            }
            let changed = changed.iter().map(|row| Session::clone(row)).collect();
            // A list whose counts are a little old is better than one that misses a change.
            let counts = self.registry.view_counts().await.ok().filter(|it| told != Some(*it));
            told = counts.or(told);
            self.frames.send(ServerFrame::SessionsChanged { changed, removed, counts }).await?;
        }
        Ok(())
    }

    /// Tells what a background row needs, where it is something new.
    fn news_of_watched(&self, changed: &[Arc<Session>], removed: &[SessionId]) -> Vec<ServerFrame> {
        let mut watched = lock(&self.watched);
        let mut news = Vec::new();
        for row in changed {
            let Some(last) = watched.get_mut(&row.session_id) else { continue };
            let meta = meta_of(row, self.registry.latest_seq(&row.session_id));
            if last.as_ref() != Some(&meta) {
                *last = Some(meta.clone());
                news.push(ServerFrame::SessionMeta(meta));
            }
        }
        for id in removed {
            if let Some((session_id, _)) = watched.remove_entry(id) {
                news.push(ServerFrame::RpcSessionNotFound { session_id });
            }
        }
        news
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
fn newest(changes: Vec<ListChange>) -> (Vec<Arc<Session>>, Vec<SessionId>) {
    let mut changed: Vec<Arc<Session>> = Vec::new();
    let mut removed = Vec::new();
    for change in changes {
        match change {
            ListChange::Changed(session) => {
                changed.retain(|known| known.session_id != session.session_id);
                changed.push(session);
            }
            ListChange::Removed(id) => {
                changed.retain(|known| known.session_id != id);
                removed.push(id);
            }
        }
    }
    (changed, removed)
}
