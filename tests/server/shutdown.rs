//! The real binary, asked to stop while its disk does not let it.

use std::time::{Duration, Instant};

use reqwest::Client;
use serde_json::{Value, json};
use sqlx::query;
use tempfile::TempDir;

use crate::live_process::LiveProcess;
use crate::server::turn_crash::rows::connect;
use crate::test_app::TestSocket;

/// The limit of an orderly stop, and time for a slow machine.
const LIMIT: Duration = Duration::from_secs(10);
const SLACK: Duration = Duration::from_secs(5);

/// Starts a server with several running turns.
async fn server_with_running_turns(data: &TempDir) -> LiveProcess {
    let server = LiveProcess::start(data.path()).await;
    let client = Client::new();
    let mut socket = TestSocket::open(&server.base).await;
    for number in 0..4 {
        let new = client.post(format!("{}/api/sessions/new", server.base)).json(&json!({}));
        let session: Value = new.send().await.unwrap().json().await.unwrap();
        let id = session["session_id"].as_str().unwrap();
        socket.subscribe(id, None).await;
        let turn_id = format!("t{number}");
        let turn =
            json!({ "turn_id": turn_id, "session_id": id, "content": "[[say On.]][[hang]]" });
        client.post(format!("{}/api/chat/start", server.base)).json(&turn).send().await.unwrap();
        socket.until_event("message_delta").await;
    }
    server
}

#[tokio::test]
async fn a_stop_that_cannot_save_ends_within_its_limit() {
    let data = TempDir::new().unwrap();
    let mut server = server_with_running_turns(&data).await;
    // Each of the server's writes waits five seconds for this lock, and fails.
    let mut connection = connect(data.path()).await;
    query("BEGIN IMMEDIATE").execute(&mut connection).await.unwrap();
    let asked = Instant::now();
    server.signal("TERM");
    server.wait().await;
    let took = asked.elapsed();
    assert!(took < LIMIT + SLACK, "stopping took {took:?}");
    query("ROLLBACK").execute(&mut connection).await.unwrap();
    let server = LiveProcess::start(data.path()).await;
    let sessions: Value = Client::new()
        .get(format!("{}/api/sessions", server.base))
        .send()
        .await
        .unwrap()
        .json()
        .await
        .unwrap();
    for session in sessions["sessions"].as_array().unwrap() {
        assert_ne!(session["status"], "working", "the next start ends its turn: {session}");
    }
}

#[tokio::test]
async fn a_second_ctrl_c_ends_the_server_at_once() {
    let data = TempDir::new().unwrap();
    let mut server = server_with_running_turns(&data).await;
    let mut connection = connect(data.path()).await;
    query("BEGIN IMMEDIATE").execute(&mut connection).await.unwrap();
    let asked = Instant::now();
    // Pressed until it has an effect, as a person would.
    let exit = loop {
        server.signal("INT");
        match tokio::time::timeout(Duration::from_millis(200), server.wait()).await {
            Ok(exit) => break exit,
            Err(_) => assert!(asked.elapsed() < SLACK, "it does not end"),
        }
    };
    assert_eq!(exit.code(), Some(130));
}

#[tokio::test]
async fn a_server_with_nothing_to_do_stops_at_once() {
    let data = TempDir::new().unwrap();
    let mut server = LiveProcess::start(data.path()).await;
    let asked = Instant::now();
    server.signal("TERM");
    assert!(server.wait().await.success());
    assert!(asked.elapsed() < SLACK, "{:?}", asked.elapsed());
}
