//! What tests of agents do with a conversation.

use serde_json::{Value, json};

use crate::test_app::{TestApp, TestSocket, last_text};

/// Runs a prompt to its end and gives the answer.
pub async fn answer_to(app: &TestApp, session: &str, turn: &str, prompt: &str) -> Value {
    let transcript = app.converse(session, turn, prompt).await;
    transcript["messages"].as_array().unwrap().last().unwrap().clone()
}

/// Runs a prompt to its end and gives the words of the answer.
pub async fn words(app: &TestApp, session: &str, turn: &str, prompt: &str) -> String {
    last_text(&app.converse(session, turn, prompt).await)
}

/// Begins a prompt and waits for an event of the given kind.
pub async fn begin(app: &TestApp, session: &str, prompt: &str, kind: &str) -> (TestSocket, Value) {
    let mut socket = app.socket().await;
    socket.subscribe(session, None).await;
    app.submit(session, &format!("{session}-begun"), prompt).await;
    let events = socket.until_event(kind).await;
    let last = events.last().unwrap()["event"].clone();
    (socket, last)
}

pub async fn stop(app: &TestApp, socket: &mut TestSocket, session: &str) -> Value {
    let done = socket.command(session, &json!({ "type": "cancel" })).await;
    assert_eq!(done["ok"], true, "{done}");
    loop {
        let transcript = app.get_json(&format!("/api/sessions/{session}")).await;
        let last = transcript["messages"].as_array().unwrap().last().unwrap().clone();
        if last["state"] != "streaming" {
            return last;
        }
    }
}

/// Tells whether a process is there and not only waiting to be buried.
pub fn is_alive(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = status.rsplit(')').next().unwrap_or_default().split_whitespace().next();
    !matches!(state, None | Some("Z" | "X"))
}

pub async fn until_gone(pid: &str) {
    let gone = async {
        while is_alive(pid) {
            tokio::task::yield_now().await;
        }
    };
    let patience = std::time::Duration::from_secs(20);
    tokio::time::timeout(patience, gone).await.expect("the process should be gone by now");
}
