//! Lets open pages reload themselves when the server was rebuilt.

use std::convert::Infallible;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures::Stream;

/// Reloads the page once the stream has come back after a break.
const SCRIPT: &str = "let broke = false;
const stream = new EventSource('/dev/reload');
stream.onerror = () => { broke = true; };
stream.onopen = () => { if (broke) location.reload(); };
";

pub async fn script() -> Response {
    ([(axum::http::header::CONTENT_TYPE, "text/javascript")], SCRIPT).into_response()
}

pub async fn reload() -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    Sse::new(futures::stream::pending()).keep_alive(KeepAlive::default())
}
