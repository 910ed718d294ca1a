//! What an agent remembers, and what it is told when it does not.

use reqwest::StatusCode;
use serde_json::json;

use super::{start, start_on, words};
use crate::fake_agent;

#[tokio::test]
async fn an_agent_goes_on_where_it_was_after_the_server_restarts() {
    let app = start().await;
    let id = app.new_session().await;
    assert!(words(&app, &id, "t1", "count").await.ends_with("prompt 1"));
    let (data, workspace) = app.stop().await;
    let app = start_on(data, workspace, fake_agent::settings()).await;
    assert_eq!(words(&app, &id, "t2", "count").await, "prompt 2");
    assert_eq!(words(&app, &id, "t3", "repeat").await, "repeat", "it needs no telling");
}

#[tokio::test]
async fn an_agent_that_forgot_a_conversation_is_told_what_was_said() {
    let app = start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "say the word is banana").await;
    // The fake agent remembers a session only once it has counted in it.
    let (data, workspace) = app.stop().await;
    let app = start_on(data, workspace, fake_agent::settings()).await;
    let told = words(&app, &id, "t2", "repeat please").await;
    assert!(told.contains("Person: say the word is banana"), "{told}");
    assert!(told.contains("You: ") && told.ends_with("repeat please"), "{told}");
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await.to_string();
    assert!(transcript.contains("no longer remembered"), "{transcript}");
    assert_eq!(words(&app, &id, "t3", "repeat").await, "repeat", "it is told once");
}

#[tokio::test]
async fn a_branch_is_told_what_was_said_up_to_it() {
    let app = start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "say the word is banana").await;
    let forked = app.post(&format!("/api/sessions/{id}/fork"), &json!({})).await;
    assert_eq!(forked.status(), StatusCode::CREATED);
    let fork: serde_json::Value = forked.json().await.unwrap();
    let fork = fork["session_id"].as_str().unwrap();
    let told = words(&app, fork, "t2", "repeat").await;
    assert!(told.contains("the word is banana"), "{told}");
    let sessions = [id.as_str(), fork].map(|id| {
        let app = &app;
        async move { app.get_json(&format!("/api/sessions/{id}/agent")).await }
    });
    let [own, forked] = futures::future::join_all(sessions).await.try_into().unwrap();
    assert_ne!(own["agent_session"], forked["agent_session"]);
}

#[tokio::test]
async fn compression_by_the_agent_makes_a_continuation_that_it_goes_on_in() {
    let app = start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "count").await;
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    let compress = app.post(&format!("/api/sessions/{id}/compress"), &json!({})).await;
    assert_eq!(compress.status(), StatusCode::ACCEPTED);
    let events = socket.until_event("compressed").await;
    let continuation = &events.last().unwrap()["event"]["continuation"];
    let continuation = continuation.as_str().unwrap().to_owned();
    socket.until_event("agent_end").await;

    let transcript = app.get_json(&format!("/api/sessions/{continuation}?limit=1")).await;
    assert!(transcript.to_string().contains("It was about apples."), "{transcript}");
    assert_eq!(words(&app, &continuation, "t2", "count").await, "prompt 2");
    let facts = app.get_json(&format!("/api/sessions/{continuation}/agent")).await;
    let before = app.get_json(&format!("/api/sessions/{id}/agent")).await;
    assert_eq!(facts["agent_session"], before["agent_session"], "the agent's session is one");
    assert_eq!(facts["options"], before["options"], "what it offers is handed on");
    assert_eq!(facts["commands"], before["commands"]);
    let root = app.get_json(&format!("/api/sessions/{id}")).await;
    assert_eq!(root["session"]["pre_compression_snapshot"], true);
}

/// A person may write the command as well; the agent says what it did either way.
#[tokio::test]
async fn compression_as_a_prompt_is_noticed_too() {
    let app = start().await;
    let id = app.new_session().await;
    let transcript = app.converse(&id, "t1", "/compact").await;
    assert!(transcript["continuation"].is_string(), "{transcript}");
}
