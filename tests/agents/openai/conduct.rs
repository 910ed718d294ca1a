//! What a conversation with a model is made of.

use std::sync::atomic::Ordering;

use reqwest::StatusCode;
use serde_json::{Value, json};
use throughline::server::agents::openai::OpenAiSettings;

use super::{answer_to, begin, start, start_on, start_with, stop, words};
use crate::fake_model::{Dialect, FakeModel};
use crate::test_app::last_text;

#[tokio::test]
async fn every_dialect_is_understood() {
    for dialect in [Dialect::Ollama, Dialect::LlamaCpp, Dialect::Vllm, Dialect::Whole] {
        let (app, _model) = start(dialect).await;
        let id = app.new_session().await;
        let answer = answer_to(&app, &id, "t1", "say hello to you").await;
        assert_eq!(answer["state"], "complete", "{dialect:?}: {answer}");
        assert!(answer.to_string().contains("hello to you"), "{dialect:?}: {answer}");
        let counted = answer["usage"]["input_tokens"].as_u64();
        assert_eq!(counted, (dialect != Dialect::Vllm).then_some(11), "{dialect:?}");
        if dialect == Dialect::LlamaCpp {
            assert_eq!(answer["usage"]["context_limit"], 2000);
        }
        if dialect != Dialect::Whole {
            let answer = answer_to(&app, &id, "t2", "think").await.to_string();
            assert!(answer.contains("\"thinking\"") && answer.contains("Let me see."), "{answer}");
        }
    }
}

#[tokio::test]
async fn a_model_is_told_what_was_said_also_after_a_restart() {
    let (app, model) = start(Dialect::Ollama).await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "say the word is banana").await;
    let told = words(&app, &id, "t2", "messages").await;
    let roles = |told: &str| {
        let told: Vec<Value> = serde_json::from_str(told).unwrap();
        told.iter().map(|it| it["role"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(roles(&told), ["system", "user", "assistant", "user"]);
    let (data, workspace) = app.stop().await;
    let app = start_on(data, workspace, model.settings()).await;
    let told = words(&app, &id, "t3", "messages").await;
    assert!(told.contains("the word is banana"), "{told}");
    assert_eq!(roles(&told).len(), 6);
}

#[tokio::test]
async fn stop_drops_the_stream_and_keeps_what_was_said() {
    let (app, model) = start(Dialect::Ollama).await;
    let id = app.new_session().await;
    let (mut socket, _) = begin(&app, &id, "forever", "message_delta").await;
    let stopped = stop(&app, &mut socket, &id).await;
    assert_eq!(stopped["state"], "cancelled");
    assert!(stopped.to_string().contains("on on"), "{stopped}");
    let page = app.get_text(&format!("/session/{id}")).await;
    assert!(page.contains("Stopped by you"));
    while model.streaming.load(Ordering::SeqCst) > 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(words(&app, &id, "t2", "say usable").await, "usable");
}

#[tokio::test]
async fn the_model_can_be_chosen_and_stays_chosen() {
    let (app, model) = start(Dialect::Ollama).await;
    let id = app.new_session().await;
    assert_eq!(words(&app, &id, "t1", "model").await, "small");
    let facts = app.get_json(&format!("/api/sessions/{id}/agent")).await;
    assert_eq!(facts["options"][0]["choices"][1]["value"], "large");
    let mut socket = app.socket().await;
    let set = json!({ "type": "set_option", "name": "model", "value": "large" });
    assert_eq!(socket.command(&id, &set).await["ok"], true);
    assert_eq!(words(&app, &id, "t2", "model").await, "large");
    let (data, workspace) = app.stop().await;
    let app = start_on(data, workspace, model.settings()).await;
    assert_eq!(words(&app, &id, "t3", "model").await, "large");
}

#[tokio::test]
async fn compression_is_a_summary_of_the_models_own() {
    let (app, _model) = start(Dialect::LlamaCpp).await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "say pears").await;
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    let compress = app.post(&format!("/api/sessions/{id}/compress"), &json!({})).await;
    assert_eq!(compress.status(), StatusCode::ACCEPTED);
    let events = socket.until_event("compressed").await;
    let continuation = events.last().unwrap()["event"]["continuation"].as_str().unwrap().to_owned();
    socket.until_event("agent_end").await;
    let told = words(&app, &continuation, "t2", "messages").await;
    assert!(told.contains("It was about apples."), "{told}");
    assert!(!told.contains("pears"), "what was summarised is not told again: {told}");
}

#[tokio::test]
async fn pictures_go_along_as_data() {
    let (app, _model) = start(Dialect::Ollama).await;
    let id = app.new_session().await;
    let png = b"\x89PNG\r\n\x1a\n0000".to_vec();
    let stored = app.client.post(format!("{}/api/blobs", app.base)).body(png.clone()).send().await;
    let stored: Value = stored.unwrap().json().await.unwrap();
    let attachment = json!({ "blob": stored["blob"], "name": "a.png", "media_type": "image/png", "size": png.len() });
    let turn = json!({ "turn_id": "t1", "session_id": id, "content": "look", "attachments": [attachment] });
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    app.post("/api/chat/start", &turn).await;
    socket.until_event("agent_end").await;
    let said = last_text(&app.get_json(&format!("/api/sessions/{id}")).await);
    assert!(said.contains("data:image/png;base64,iVBORw0KGgowMDAw"), "{said}");
}

/// The key is sent to the server, and shown to nobody.
#[tokio::test]
async fn the_key_comes_from_the_environment_and_is_kept_nowhere() {
    let model = FakeModel::start(Dialect::Ollama).await;
    let key = std::env::var("PATH").unwrap();
    let mut settings = model.settings();
    settings.key_variable = Some("PATH".to_owned());
    let app = start_with(settings.clone()).await;
    let id = app.new_session().await;
    assert_eq!(words(&app, &id, "t1", "key").await, format!("Bearer {key}"));
    let kept = app.get_json(&format!("/api/sessions/{id}/agent/messages")).await;
    let sent = kept.as_array().unwrap().iter().filter(|line| line["from"] == "server");
    assert!(sent.into_iter().all(|line| !line["text"].as_str().unwrap().contains(&key)));

    settings.key_variable = Some("THROUGHLINE_NO_SUCH_KEY".to_owned());
    let app = start_with(settings).await;
    let agents = app.get_json("/api/agents").await;
    let missing = agents[0]["missing"].as_str().unwrap();
    assert!(missing.contains("THROUGHLINE_NO_SUCH_KEY"), "{missing}");
}

/// What is looked for at a usual place is offered once it is there, without a restart.
#[tokio::test]
async fn a_server_that_is_looked_for_is_found_when_it_is_there() {
    let model = FakeModel::start(Dialect::Ollama).await;
    let start = Some("Start it.".to_owned());
    let app = start_with(OpenAiSettings { start: start.clone(), ..model.settings() }).await;
    assert_eq!(app.get_json("/api/agents").await[0]["missing"], Value::Null);
    let nobody =
        OpenAiSettings { base_url: "http://127.0.0.1:9/v1".to_owned(), start, ..model.settings() };
    let app = start_with(nobody).await;
    let agents = app.get_json("/api/agents").await;
    let missing = agents[0]["missing"].as_str().unwrap();
    assert!(missing.contains("Nothing answers at") && missing.ends_with("Start it."), "{missing}");
}
