//! What a conversation with an agent is made of.

use reqwest::StatusCode;
use serde_json::{Value, json};
use throughline::server::agents::acp::AcpSettings;

use super::{answer_to, begin, start, stop, words};
use crate::fake_agent;
use crate::test_app::last_text;

#[tokio::test]
async fn an_agent_answers() {
    let app = start().await;
    let id = app.new_session().await;
    let answer = answer_to(&app, &id, "t1", "say hello there").await;
    assert_eq!(answer["state"], "complete");
    assert!(answer.to_string().contains("hello there"), "{answer}");
    assert_eq!(app.get_json(&format!("/api/sessions/{id}")).await["session"]["agent"], "fake");
}

#[tokio::test]
async fn a_permission_is_a_question_with_the_answers_that_the_agent_offers() {
    let app = start().await;
    for (option, label) in [("yes", "Allow once"), ("ever", "Yes, always"), ("no", "No")] {
        let id = app.new_session().await;
        let (mut socket, asked) = begin(&app, &id, "ask", "question").await;
        let question = &asked["question"];
        assert_eq!(question["title"], "Run this command?");
        assert_eq!(question["detail"], "ls -l");
        let offered = question["options"].as_array().unwrap();
        let choice = offered.iter().find(|choice| choice["option"] == option).unwrap();
        assert_eq!(choice["label"], label);
        let answer =
            json!({ "type": "answer", "request_id": question["request_id"], "option": option });
        assert_eq!(socket.command(&id, &answer).await["ok"], true);
        socket.until_event("agent_end").await;
        let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
        assert!(last_text(&transcript).ends_with(option), "{transcript}");
        assert!(transcript.to_string().contains("\"done\""), "the tool has ended");
    }
}

#[tokio::test]
async fn stop_is_stop_whatever_the_agent_answers() {
    let app = start().await;
    for answer in ["cancelled", "end_turn", "refusal", "cosmic_rays", "error", "never"] {
        let id = app.new_session().await;
        let (mut socket, _) =
            begin(&app, &id, &format!("until-cancelled {answer}"), "message_delta").await;
        let ended = stop(&app, &mut socket, &id).await;
        assert_eq!(ended["state"], "cancelled", "{answer}");
        let page = app.get_text(&format!("/session/{id}")).await;
        assert!(page.contains("Stopped by you"), "{answer}");
        assert!(!page.contains("role=\"alert\""), "{answer}");
        let again = words(&app, &id, &format!("{id}-again"), "say usable").await;
        assert!(again.ends_with("usable"), "{answer}: {again}");
    }
}

#[tokio::test]
async fn stop_answers_an_open_question_for_the_person() {
    let app = start().await;
    let id = app.new_session().await;
    let (mut socket, _) = begin(&app, &id, "ask", "question").await;
    assert_eq!(stop(&app, &mut socket, &id).await["state"], "cancelled");
    assert_eq!(words(&app, &id, "again", "say usable").await, "usable");
}

/// Many sessions share one process, and each hears its own words alone.
#[tokio::test]
async fn twenty_five_sessions_in_one_process_do_not_mix() {
    let app = start().await;
    let mut ids = Vec::new();
    for _ in 0..25 {
        ids.push(app.new_session().await);
    }
    for round in 0..3 {
        let talks = ids.iter().map(|id| {
            let app = &app;
            async move { words(app, id, &format!("{id}-{round}"), &format!("who {id}")).await }
        });
        let answers = futures::future::join_all(talks).await;
        let (mut processes, mut sessions) = (Vec::new(), Vec::new());
        for (id, answer) in ids.iter().zip(&answers) {
            let answer = answer.trim_start_matches("early");
            let [process, session, named] = answer.split(' ').collect::<Vec<_>>()[..] else {
                panic!("{answer}");
            };
            assert_eq!(named, id, "round {round}");
            processes.push(process.to_owned());
            sessions.push(session.to_owned());
        }
        processes.dedup();
        assert_eq!(processes.len(), 1, "one process carries them all");
        sessions.sort();
        sessions.dedup();
        assert_eq!(sessions.len(), 25, "each has a session of its own");
    }
}

#[tokio::test]
async fn options_and_commands_are_told_and_options_last() {
    let app = start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "count").await;
    let facts = app.get_json(&format!("/api/sessions/{id}/agent")).await;
    assert_eq!(facts["options"][0]["id"], "mode");
    assert_eq!(facts["options"][0]["value"], "careful");
    assert_eq!(facts["options"][0]["choices"][1]["name"], "Bold");
    assert_eq!(facts["commands"][0]["name"], "compact");
    assert!(facts["agent_session"].as_str().unwrap().starts_with("fake-"));

    let mut socket = app.socket().await;
    let set = json!({ "type": "set_option", "name": "mode", "value": "bold" });
    assert_eq!(socket.command(&id, &set).await["ok"], true);
    assert_eq!(words(&app, &id, "t2", "mode").await, "bold");
    let (data, workspace) = app.stop().await;
    let app = super::start_on(data, workspace, fake_agent::settings()).await;
    assert_eq!(words(&app, &id, "t3", "mode").await, "bold", "it is set again after a restart");
    let facts = app.get_json(&format!("/api/sessions/{id}/agent")).await;
    assert_eq!(facts["options"][0]["value"], "bold");
}

#[tokio::test]
async fn a_picture_goes_along_with_its_prompt() {
    let app = start().await;
    let id = app.new_session().await;
    let png = b"\x89PNG\r\n\x1a\n0000".to_vec();
    let address = format!("{}/api/blobs", app.base);
    let stored = app.client.post(address).body(png.clone()).send().await.unwrap();
    let stored: serde_json::Value = stored.json().await.unwrap();
    let attachment = json!({ "blob": stored["blob"], "name": "a.png", "media_type": "image/png", "size": png.len() });
    let turn = json!({ "turn_id": "t1", "session_id": id, "content": "blocks", "attachments": [attachment] });
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    app.post("/api/chat/start", &turn).await;
    socket.until_event("agent_end").await;
    let said = last_text(&app.get_json(&format!("/api/sessions/{id}")).await);
    assert!(said.contains("\"type\":\"image\""), "{said}");
    assert!(said.contains("iVBORw0KGgowMDAw"), "{said}");
}

#[tokio::test]
async fn an_agent_may_name_a_conversation_until_a_person_does() {
    let app = start().await;
    let id = app.new_session().await;
    let titled = app.converse(&id, "t1", "title About apples").await;
    assert_eq!(titled["session"]["title"], "About apples");
    let address = format!("{}/api/sessions/{id}", app.base);
    app.client.patch(&address).json(&json!({ "title": "Mine" })).send().await.unwrap();
    let titled = app.converse(&id, "t2", "title About pears").await;
    assert_eq!(titled["session"]["title"], "Mine");
}

#[tokio::test]
async fn the_last_messages_are_kept_word_for_word_and_within_bounds() {
    let app = start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "unknown").await;
    let long = "x".repeat(200_000);
    app.converse(&id, "t2", &format!("say {long}")).await;
    let kept = app.get_json(&format!("/api/sessions/{id}/agent/messages")).await;
    let kept = kept.as_array().unwrap();
    let has = |from: &str, words: &str| {
        let fits = |line: &&serde_json::Value| {
            line["from"] == from && line["text"].as_str().unwrap().contains(words)
        };
        kept.iter().any(|line| fits(&line))
    };
    assert!(has("server", "initialize") && has("server", "session/prompt"));
    assert!(has("agent", "telepathy_update") && has("agent", "stopReason"));
    assert!(kept.iter().any(|line| line["size"].as_u64().unwrap() > 200_000));
    let bytes: usize = kept.iter().map(|line| line["text"].as_str().unwrap().len()).sum();
    assert!(bytes <= 256 << 10, "{bytes}");
}

#[tokio::test]
async fn what_an_agent_offers_can_be_asked_before_anything_is_said() {
    let app = start().await;
    let id = app.new_session().await;
    let idle = app.get_json(&format!("/api/sessions/{id}/agent")).await;
    assert_eq!(idle["agent_session"], json!(null), "a mere look starts nothing");
    let response = app.post("/fn/agent_facts", &json!({ "session_id": id })).await;
    assert_eq!(response.status(), StatusCode::OK);
    let facts: Value = response.json().await.unwrap();
    assert!(facts["agent_session"].is_string(), "{facts}");
    let again = app.post("/fn/agent_facts", &json!({ "session_id": id })).await;
    let again: Value = again.json().await.unwrap();
    assert_eq!(again["agent_session"], facts["agent_session"], "the same agent, not another");
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    assert_eq!(transcript["messages"], json!([]));
    assert_eq!(transcript["session"]["status"], "idle");
}

#[tokio::test]
async fn an_agent_that_cannot_start_says_so_to_who_asks_what_it_offers() {
    let settings = AcpSettings {
        command: "/bin/false".to_owned(),
        arguments: Vec::new(),
        ..fake_agent::settings()
    };
    let app = super::start_with(settings).await;
    let id = app.new_session().await;
    let response = app.post("/fn/agent_facts", &json!({ "session_id": id })).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert!(response.text().await.unwrap().contains("Fake"), "in plain words");
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    assert_eq!(transcript["messages"], json!([]), "nothing was asked, so nothing failed");
    assert_eq!(transcript["session"]["status"], "idle");
    let failed = answer_to(&app, &id, "t1", "hello").await;
    assert_eq!(failed["state"], "failed");
}
