//! What a conversation with pi is made of.

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{answer_to, begin, is_alive, start, start_on, stop, until_gone, words};
use crate::fake_agent;
use crate::test_app::{TestApp, last_text};

#[tokio::test]
async fn pi_answers_and_says_what_it_took() {
    let app = start().await;
    let id = app.new_session().await;
    let answer = answer_to(&app, &id, "t1", "say hello there").await;
    assert_eq!(answer["state"], "complete");
    assert_eq!(answer["usage"]["input_tokens"], 5);
    assert_eq!(answer["usage"]["context_limit"], 1000);
    assert_eq!(answer["usage"]["cost_usd"], 0.5);
    assert_eq!(words(&app, &id, "t2", "repeat me").await, "repeat me", "an end not told is seen");
}

#[tokio::test]
async fn what_an_extension_asks_is_a_question() {
    let app = start().await;
    for option in ["yes", "no"] {
        let id = app.new_session().await;
        let (mut socket, asked) = begin(&app, &id, "ask", "question").await;
        let question = &asked["question"];
        assert_eq!(question["title"], "Run command?");
        assert_eq!(question["detail"], "ls -l");
        let answer =
            json!({ "type": "answer", "request_id": question["request_id"], "option": option });
        assert_eq!(socket.command(&id, &answer).await["ok"], true);
        socket.until_event("agent_end").await;
        let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
        assert_eq!(last_text(&transcript), option);
    }
}

#[tokio::test]
async fn a_command_of_an_extension_ends_with_its_reply() {
    let app = start().await;
    let id = app.new_session().await;
    let (mut socket, asked) = begin(&app, &id, "/ask", "question").await;
    let request_id = &asked["question"]["request_id"];
    let answer = json!({ "type": "answer", "request_id": request_id, "option": "blue" });
    assert_eq!(socket.command(&id, &answer).await["ok"], true);
    socket.until_event("agent_end").await;
    assert_eq!(words(&app, &id, "again", "say usable").await, "usable");
}

#[tokio::test]
async fn stop_is_stop_whatever_pi_answers() {
    let app = start().await;
    for answer in ["aborted", "stop", "error", "late", "never"] {
        let id = app.new_session().await;
        let prompt = format!("until-stopped {answer}");
        let (mut socket, _) = begin(&app, &id, &prompt, "message_delta").await;
        assert_eq!(stop(&app, &mut socket, &id).await["state"], "cancelled", "{answer}");
        let page = app.get_text(&format!("/session/{id}")).await;
        assert!(page.contains("Stopped by you"), "{answer}");
        assert_eq!(words(&app, &id, &format!("{id}-2"), "say usable").await, "usable", "{answer}");
    }
}

#[tokio::test]
async fn pi_goes_on_where_it_was_and_keeps_its_options() {
    let app = start().await;
    let id = app.new_session().await;
    assert_eq!(words(&app, &id, "t1", "count").await, "prompt 1");
    let facts = app.get_json(&format!("/api/sessions/{id}/agent")).await;
    assert_eq!(facts["options"][0]["id"], "thinking");
    assert_eq!(facts["commands"][0]["name"], "ask");
    let mut socket = app.socket().await;
    let set = json!({ "type": "set_option", "name": "thinking", "value": "high" });
    assert_eq!(socket.command(&id, &set).await["ok"], true);
    assert_eq!(words(&app, &id, "t2", "level").await, "high");
    let (data, workspace) = app.stop().await;
    let app = start_on(data, workspace).await;
    assert_eq!(words(&app, &id, "t3", "count").await, "prompt 3", "it is resumed by its file");
    assert_eq!(words(&app, &id, "t4", "level").await, "high");
}

#[tokio::test]
async fn a_file_that_is_gone_is_not_taken_for_a_conversation() {
    let app = start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "say the word is banana").await;
    let facts = app.get_json(&format!("/api/sessions/{id}/agent")).await;
    let file = facts["agent_session"].as_str().unwrap().to_owned();
    let (data, workspace) = app.stop().await;
    std::fs::remove_file(file).unwrap();
    let app = start_on(data, workspace).await;
    let told = words(&app, &id, "t2", "repeat please").await;
    assert!(told.contains("Person: say the word is banana"), "{told}");
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await.to_string();
    assert!(transcript.contains("no longer remembered"), "{transcript}");
}

#[tokio::test]
async fn compression_makes_a_continuation_that_pi_goes_on_in() {
    let app = start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "count").await;
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    let compress = app.post(&format!("/api/sessions/{id}/compress"), &json!({})).await;
    assert_eq!(compress.status(), StatusCode::ACCEPTED);
    let events = socket.until_event("compressed").await;
    let continuation = events.last().unwrap()["event"]["continuation"].as_str().unwrap().to_owned();
    socket.until_event("agent_end").await;
    let transcript = app.get_json(&format!("/api/sessions/{continuation}?limit=1")).await;
    assert!(transcript.to_string().contains("It was about apples."), "{transcript}");
    assert_eq!(words(&app, &continuation, "t2", "count").await, "prompt 2");
}

#[tokio::test]
async fn pictures_go_along_with_their_prompt() {
    let app = start().await;
    let id = app.new_session().await;
    let png = b"\x89PNG\r\n\x1a\n0000".to_vec();
    let stored = app.client.post(format!("{}/api/blobs", app.base)).body(png.clone()).send().await;
    let stored: Value = stored.unwrap().json().await.unwrap();
    let attachment = json!({ "blob": stored["blob"], "name": "a.png", "media_type": "image/png", "size": png.len() });
    let turn = json!({ "turn_id": "t1", "session_id": id, "content": "pictures", "attachments": [attachment] });
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    app.post("/api/chat/start", &turn).await;
    socket.until_event("agent_end").await;
    let said = last_text(&app.get_json(&format!("/api/sessions/{id}")).await);
    assert!(said.contains("iVBORw0KGgowMDAw") && said.contains("image/png"), "{said}");
}

#[tokio::test]
async fn an_idle_process_leaves_and_the_next_prompt_goes_on_in_another() {
    let (data, workspace) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let app = TestApp::start_changed(data, workspace, |config| {
        config.agents.entries = vec![fake_agent::pi_entry(fake_agent::pi())];
        config.agents.idle_after = Duration::from_millis(300);
    })
    .await;
    let id = app.new_session().await;
    let first = words(&app, &id, "t1", "pid").await;
    until_gone(&first).await;
    assert_eq!(words(&app, &id, "t2", "count").await, "prompt 2", "it remembers");
    let second = words(&app, &id, "t3", "pid").await;
    assert_ne!(first, second);
    assert!(is_alive(&second));
    app.stop().await;
    until_gone(&second).await;
}
