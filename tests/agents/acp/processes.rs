//! The care for processes: they end with the server, when idle, and with all that they started.

use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use throughline::server::agents::acp::AcpSettings;

use super::{is_alive, start, start_with, until_gone, words};
use crate::fake_agent;
use crate::live_process::LiveProcess;
use crate::test_app::{TestApp, last_text};

fn numbers(said: &str) -> Vec<String> {
    said.trim_start_matches("early").split(' ').map(str::to_owned).collect()
}

#[tokio::test]
async fn a_process_and_its_children_end_with_an_orderly_server() {
    let app = start().await;
    let id = app.new_session().await;
    let pids = numbers(&words(&app, &id, "t1", "leave-child").await);
    assert!(pids.iter().all(|pid| is_alive(pid)));
    app.stop().await;
    for pid in &pids {
        until_gone(pid).await;
    }
}

#[tokio::test]
async fn a_process_that_ignores_every_request_to_leave_is_ended() {
    let app = start_with(fake_agent::stubborn()).await;
    let id = app.new_session().await;
    let pids = numbers(&words(&app, &id, "t1", "leave-child").await);
    app.stop().await;
    for pid in &pids {
        until_gone(pid).await;
    }
}

#[tokio::test]
async fn nothing_of_an_agent_outlives_a_server_that_is_killed() {
    let data = TempDir::new().unwrap();
    let settings = fake_agent::stubborn();
    let file = toml_of(&settings);
    std::fs::write(data.path().join("throughline.toml"), file).unwrap();
    let live = LiveProcess::start(data.path()).await;
    let pids = numbers(&said_by(&live.base, "leave-child").await);
    assert_eq!(pids.len(), 2);
    assert!(pids.iter().all(|pid| is_alive(pid)));
    live.kill().await;
    for pid in &pids {
        until_gone(pid).await;
    }
}

#[tokio::test]
async fn an_idle_process_leaves_and_the_next_prompt_goes_on_in_another() {
    let (data, workspace) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let app = TestApp::start_changed(data, workspace, |config| {
        config.agents.entries = vec![fake_agent::entry(fake_agent::settings())];
        config.agents.idle_after = Duration::from_millis(300);
    })
    .await;
    let id = app.new_session().await;
    let first = numbers(&words(&app, &id, "t1", "who").await).remove(0);
    app.converse(&id, "t2", "count").await;
    until_gone(&first).await;
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    assert_eq!(transcript["messages"].as_array().unwrap().len(), 4, "nobody was told");
    assert_eq!(words(&app, &id, "t3", "count").await, "prompt 2", "it remembers");
    let second = numbers(&words(&app, &id, "t4", "who").await).remove(0);
    assert_ne!(first, second);
}

/// A turn that runs long is no idle process.
#[tokio::test]
async fn a_process_with_a_turn_under_way_is_not_idle() {
    let (data, workspace) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let app = TestApp::start_changed(data, workspace, |config| {
        config.agents.entries = vec![fake_agent::entry(fake_agent::settings())];
        config.agents.idle_after = Duration::from_millis(50);
    })
    .await;
    let id = app.new_session().await;
    let (mut socket, asked) = super::begin(&app, &id, "ask", "question").await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let request_id = &asked["question"]["request_id"];
    let answer = json!({ "type": "answer", "request_id": request_id, "option": "yes" });
    assert_eq!(socket.command(&id, &answer).await["ok"], true);
    socket.until_event("agent_end").await;
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    assert_eq!(transcript["messages"][1]["state"], "complete");
}

/// Kills a process from outside, as a system that is short of memory does.
fn kill(pid: &str) {
    let killed = std::process::Command::new("kill").args(["-KILL", pid]).status().unwrap();
    assert!(killed.success());
}

#[tokio::test]
async fn death_in_a_turn_is_noticed_within_a_second() {
    let app = start().await;
    let id = app.new_session().await;
    let pid = numbers(&words(&app, &id, "t1", "who").await).remove(0);
    let (mut socket, _) = super::begin(&app, &id, "until-cancelled never", "message_delta").await;
    let row = app.get_json(&format!("/api/sessions/{id}")).await;
    assert_eq!(row["session"]["status"], "streaming");
    kill(&pid);
    let noticed = socket.until_event("agent_end");
    let noticed = tokio::time::timeout(Duration::from_secs(1), noticed).await;
    let noticed = noticed.expect("it should be noticed within a second");
    assert_eq!(noticed.last().unwrap()["event"]["outcome"], "crashed");
    let row = app.get_json(&format!("/api/sessions/{id}")).await;
    assert_eq!(row["session"]["status"], "error", "{row}");
    let answer = row["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(answer["state"], "crashed");
    assert!(answer.to_string().contains("signal 9"), "{answer}");
    assert!(words(&app, &id, "t3", "say usable").await.ends_with("usable"));
}

/// Nothing was under way, so nothing is lost; whoever looks at the row is told.
#[tokio::test]
async fn death_while_idle_is_told_within_a_second_and_the_next_prompt_starts_another() {
    let app = start().await;
    let id = app.new_session().await;
    app.converse(&id, "t0", "count").await;
    let first = numbers(&words(&app, &id, "t1", "who").await).remove(0);
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    // The answer comes after the subscription.
    socket.command(&id, &json!({ "type": "cancel" })).await;
    kill(&first);
    let noticed = socket.until_event("rpc_process_crashed");
    let noticed = tokio::time::timeout(Duration::from_secs(1), noticed).await;
    let noticed = noticed.expect("it should be noticed within a second");
    let told = noticed.last().unwrap()["event"]["message"].as_str().unwrap().to_owned();
    assert!(told.ends_with("Your next message starts it again."), "{told}");
    let row = app.get_json(&format!("/api/sessions/{id}")).await;
    assert_eq!((&row["session"]["status"], &row["error"]), (&json!("idle"), &json!(told)));
    assert!(app.get_text("/").await.contains("The agent stopped"));
    assert!(app.get_text(&format!("/session/{id}")).await.contains("Your next message starts it"));
    assert_eq!(words(&app, &id, "t2", "count").await, "prompt 2", "it is resumed");
    let second = numbers(&words(&app, &id, "t3", "who").await).remove(0);
    assert_ne!(first, second);
    assert!(!app.get_text("/").await.contains("The agent stopped"));
}

/// Runs a prompt in a new conversation of another server, and gives the words of the answer.
async fn said_by(base: &str, prompt: &str) -> String {
    let client = reqwest::Client::new();
    let made = client.post(format!("{base}/api/sessions/new")).json(&json!({ "agent": "fake" }));
    let session: Value = made.send().await.unwrap().json().await.unwrap();
    let id = session["session_id"].as_str().unwrap();
    let turn = json!({ "turn_id": "t1", "session_id": id, "content": prompt });
    client.post(format!("{base}/api/chat/start")).json(&turn).send().await.unwrap();
    loop {
        let asked = client.get(format!("{base}/api/sessions/{id}")).send().await.unwrap();
        let transcript: Value = asked.json().await.unwrap();
        if transcript["messages"][1]["state"] == "complete" {
            return last_text(&transcript);
        }
    }
}

fn toml_of(settings: &AcpSettings) -> String {
    let quoted = |text: &String| format!("{text:?}");
    let arguments: Vec<_> = settings.arguments.iter().map(quoted).collect();
    let environment: Vec<_> =
        settings.environment.iter().map(|(name, value)| format!("{name} = {value:?}")).collect();
    format!(
        "[agents.fake]\ncommand = {:?}\narguments = [{}]\nenvironment = {{ {} }}\n",
        settings.command,
        arguments.join(", "),
        environment.join(", ")
    )
}
