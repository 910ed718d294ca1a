//! The stream of what happens to sessions, as Server-Sent Events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures::stream::{Stream, unfold};
use serde_json::{Value, json};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::server::conversations;
use crate::server::sessions::{Entry, Happened};
use crate::server::state::Services;
use crate::wire::error::FailureCode;

const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// No happening has this number, so that what follows it is not known.
const UNKNOWN: u64 = u64::MAX;

/// Sends what a reader missed since its `Last-Event-ID`, then what follows.
pub async fn events(
    State(services): State<Services>,
    headers: HeaderMap,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let epoch = services.registry.epoch().to_string();
    let last = headers.get("last-event-id").and_then(|value| value.to_str().ok());
    let after = last.map(|last| number_in(last, &epoch).unwrap_or(UNKNOWN));
    let reading = services.registry.board().chronicle().read(after);
    let first = match (&reading.missed, after) {
        (None, _) => Some(("reset", reading.latest)),
        (Some(_), None) => Some(("ready", reading.latest)),
        (Some(_), Some(_)) => None,
    };
    let missed = reading.missed.unwrap_or_default().into();
    let reader = Reader { services, epoch, first, missed, following: reading.following };
    let stream = unfold(reader, async |mut reader| {
        let event = reader.next().await?;
        Some((Ok(event), reader))
    });
    Sse::new(stream).keep_alive(KeepAlive::new().interval(KEEP_ALIVE))
}

/// Reads the number in an event's id, if it is of this life of the server.
fn number_in(id: &str, epoch: &str) -> Option<u64> {
    id.strip_prefix(epoch)?.strip_prefix('-')?.parse().ok()
}

struct Reader {
    services: Services,
    epoch: String,
    /// What a reader is told before everything else.
    first: Option<(&'static str, u64)>,
    missed: VecDeque<Entry>,
    following: Receiver<Entry>,
}

impl Reader {
    /// Waits for the next event; none when the server stops, and none when the store does not
    /// answer: the reader comes back and gets what it missed.
    async fn next(&mut self) -> Option<Event> {
        if let Some((name, number)) = self.first.take() {
            return Some(self.event(name, number, &json!({})));
        }
        let entry = match self.missed.pop_front() {
            Some(entry) => entry,
            None => {
                let mut stopped = self.services.registry.board().stopped();
                tokio::select! {
                    _ = stopped.wait_for(|stopped| *stopped) => return None,
                    received = self.following.recv() => match received {
                        Ok(entry) => entry,
                        Err(RecvError::Closed) => return None,
                        // This reader fell behind: it alone loses events, and is told so.
                        Err(RecvError::Lagged(_)) => return Some(self.begin_anew()),
                    }
                }
            }
        };
        let (name, data) = self.tell(&entry).await?;
        Some(self.event(name, entry.number, &data))
    }

    fn begin_anew(&mut self) -> Event {
        let reading = self.services.registry.board().chronicle().read(None);
        self.following = reading.following;
        self.event("reset", reading.latest, &json!({}))
    }

    /// Gives an entry with its row, which is read now where nobody was there to read it.
    async fn tell(&self, entry: &Entry) -> Option<(&'static str, Value)> {
        let row = match &entry.row {
            Some(row) => serde_json::to_value(row).ok()?,
            None => match conversations::row(&self.services, &entry.session_id).await {
                Ok(row) => serde_json::to_value(&row).ok()?,
                Err(error) if error.0.code == FailureCode::SessionNotFound => {
                    let gone = json!({ "session_id": entry.session_id });
                    return Some((Happened::Removed.name(), gone));
                }
                Err(_) => return None,
            },
        };
        Some((entry.happened.name(), row))
    }

    fn event(&self, name: &str, number: u64, data: &Value) -> Event {
        let id = format!("{}-{number}", self.epoch);
        Event::default().event(name).id(id).data(data.to_string())
    }
}
