//! Reads what a process says, and notices when it is gone.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::connection::{Connection, Refusal, Reply};
use super::route::Mail;
use crate::server::agents::process::{End, LAST_LINES, Line, Lines};

/// Reads until the process is gone or says something unbearable, then tells everyone how it went.
pub async fn listen(connection: Connection, mut output: Lines, mut end: End, name: Arc<str>) {
    let how = loop {
        tokio::select! {
            line = output.next() => match line {
                Line::Whole(bytes) => take(&connection, &bytes).await,
                Line::TooLong => break "sent a message of more than 32 MB".to_owned(),
                Line::End => break end.wait_briefly().await,
            },
            how = end.wait() => {
                let rest = async {
                    while let Line::Whole(bytes) = output.next().await {
                        take(&connection, &bytes).await;
                    }
                };
                // Another process may hold the pipe open; it has nothing to say here.
                let _ = tokio::time::timeout(LAST_LINES, rest).await;
                break how;
            }
        }
    };
    tracing::info!(agent = %name, %how, "an agent's process is gone");
    connection.close(&how).await;
    drop(output);
    end.wait().await;
}

/// Takes one line. What is no message is noise, and noise is only noted.
async fn take(connection: &Connection, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(Value::Object(message)) = serde_json::from_slice(bytes) else {
        return connection.keep(&text);
    };
    let method = message.get("method").and_then(Value::as_str);
    let id = message.get("id").filter(|id| !id.is_null());
    match (method, id) {
        (None, Some(id)) => match number(id) {
            Some(id) => connection.settle(id, reply(&message), &text).await,
            None => connection.keep(&text),
        },
        (Some("session/update"), _) => {
            let update = message.get("params").and_then(|params| params.get("update"));
            let mail = Mail::Update(update.cloned().unwrap_or_default());
            deliver(connection, &message, mail, &text).await;
        }
        (Some("session/request_permission"), Some(id)) => {
            let params = message.get("params").cloned().unwrap_or_default();
            let mail = Mail::Permission { id: id.clone(), params };
            deliver(connection, &message, mail, &text).await;
        }
        (Some(method), Some(id)) => {
            connection.keep(&text);
            connection.respond_unknown(id, method);
        }
        (Some(_) | None, None) => connection.keep(&text),
    }
}

async fn deliver(connection: &Connection, message: &Map<String, Value>, mail: Mail, text: &str) {
    let params = message.get("params").and_then(|params| params.get("sessionId"));
    match params.and_then(Value::as_str) {
        Some(session) => connection.deliver(session, mail, text).await,
        None => connection.keep(text),
    }
}

/// Our ids are numbers; some agents give them back as texts.
fn number(id: &Value) -> Option<u64> {
    id.as_u64().or_else(|| id.as_str()?.parse().ok())
}

fn reply(message: &Map<String, Value>) -> Reply {
    let Some(error) = message.get("error").filter(|error| !error.is_null()) else {
        return Ok(message.get("result").cloned().unwrap_or_default());
    };
    let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
    let said = error.get("message").and_then(Value::as_str).unwrap_or("no reason was given");
    let detail = error.get("data").and_then(|data| match data {
        Value::String(text) => Some(text.as_str()),
        data => data.get("details").or_else(|| data.get("message")).and_then(Value::as_str),
    });
    let message = match detail {
        Some(detail) if detail != said => format!("{said}: {detail}"),
        _ => said.to_owned(),
    };
    Err(Refusal::Refused { code, message })
}
