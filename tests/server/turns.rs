use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::test_app::{TestApp, last_text};

#[tokio::test]
async fn an_answer_is_stored_as_typed_parts() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let prompt = "[[think Let me see.]][[say Here.]][[tool read notes.txt]][[plan One | Two]]";
    let transcript = app.converse(&id, "t1", prompt).await;
    let answer = &transcript["messages"][1];
    assert_eq!((&answer["role"], &answer["state"]), (&json!("assistant"), &json!("complete")));
    let kinds: Vec<_> = answer["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds[..4], ["thinking", "text", "tool", "plan"]);
    assert!(answer["parts"][2]["output"].to_string().contains("remember the milk"));
}

#[tokio::test]
async fn the_same_turn_again_starts_nothing() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "[[say once]]").await;
    let again = app.submit(&id, "t1", "[[say once]]").await;
    assert_eq!(again.status(), StatusCode::ACCEPTED);
    let receipt: Value = again.json().await.unwrap();
    assert_eq!(receipt["accepted"], false);
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    assert_eq!(transcript["messages"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn ten_racing_submits_of_one_turn_make_one_message() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    let submits = (0..10).map(|_| app.submit(&id, "t1", "[[say once]]"));
    let responses = futures::future::join_all(submits).await;
    let mut accepted = 0;
    for response in responses {
        assert_eq!(response.status(), StatusCode::ACCEPTED);
        accepted += u32::from(response.json::<Value>().await.unwrap()["accepted"] == true);
    }
    assert_eq!(accepted, 1);
    socket.until_event("agent_end").await;
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    assert_eq!(transcript["messages"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn the_same_turn_with_other_content_is_a_conflict() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "[[say one]]").await;
    let response = app.submit(&id, "t1", "[[say two]]").await;
    assert_eq!(response.status(), StatusCode::CONFLICT);
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["error"]["code"], "turn_conflict");
}

#[tokio::test]
async fn prompts_sent_during_a_turn_wait_and_are_answered_in_order() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    app.submit(&id, "t1", "[[ask Go on? | Yes]]").await;
    socket.until_event("question").await;
    app.submit(&id, "t2", "[[say second]]").await;
    app.submit(&id, "t3", "[[say third]]").await;
    let request = question_of(&app.get_json(&format!("/api/sessions/{id}")).await);
    let answer = json!({ "type": "answer", "request_id": request["request_id"], "option": request["options"][0]["option"] });
    socket.command(&id, &answer).await;
    for _ in 0..3 {
        socket.until_event("agent_end").await;
    }
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    let answers: Vec<_> = transcript["messages"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "assistant")
        .map(|message| message["turn_id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(answers, ["t1", "t2", "t3"]);
    assert!(last_text(&transcript).contains("third"));
}

#[tokio::test]
async fn a_question_is_answered_exactly_once() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    app.submit(&id, "t1", "[[tool run echo allowed]]").await;
    socket.until_event("question").await;
    let waiting = app.get_json(&format!("/api/sessions/{id}")).await;
    assert_eq!(waiting["status"], "waiting");
    assert_eq!(waiting["session"]["open_questions"], 1);
    let question = question_of(&waiting);
    let answer =
        json!({ "type": "answer", "request_id": question["request_id"], "option": "allow_once" });
    let wrong =
        json!({ "type": "answer", "request_id": question["request_id"], "option": "nonsense" });
    assert_eq!(socket.command(&id, &wrong).await["error"]["code"], "invalid_request");
    assert_eq!(socket.command(&id, &answer).await["ok"], true);
    assert_eq!(socket.command(&id, &answer).await["error"]["code"], "question_closed");
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    if transcript["status"] != "idle" {
        socket.until_event("agent_end").await;
    }
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    assert!(transcript.to_string().contains("allowed\\n"), "the command ran: {transcript}");
}

#[tokio::test]
async fn stop_ends_a_hanging_agent_as_stopped_by_the_person() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    app.submit(&id, "t1", "[[say Started.]][[hang]]").await;
    socket.until_event("message_delta").await;
    assert_eq!(socket.command(&id, &json!({ "type": "cancel" })).await["ok"], true);
    let events = socket.until_event("agent_end").await;
    assert_eq!(events.last().unwrap()["event"]["outcome"], "cancelled");
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    assert_eq!(transcript["messages"][1]["state"], "cancelled");
    let again = socket.command(&id, &json!({ "type": "cancel" })).await;
    assert_eq!(again["error"]["code"], "nothing_runs");
}

#[tokio::test]
async fn an_agent_that_dies_leaves_a_usable_session() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let transcript = app.converse(&id, "t1", "[[say Before.]][[crash]]").await;
    assert_eq!(transcript["messages"][1]["state"], "crashed");
    assert_eq!(transcript["status"], "error");
    assert!(last_text(&transcript).contains("Before."), "what was said is kept");
    let transcript = app.converse(&id, "t2", "[[say Back again.]]").await;
    assert_eq!(transcript["status"], "idle");
    assert!(last_text(&transcript).contains("Back again."));
}

#[tokio::test]
async fn an_agent_that_fails_says_so() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let transcript = app.converse(&id, "t1", "[[error The model is overloaded]]").await;
    let answer = &transcript["messages"][1];
    assert_eq!(answer["state"], "failed");
    assert!(answer["parts"].to_string().contains("The model is overloaded"));
    assert_eq!(transcript["session"]["preview"], "The model is overloaded");
}

#[tokio::test]
async fn an_orderly_stop_marks_the_running_answer_interrupted() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    app.submit(&id, "t1", "[[say Halfway.]][[hang]]").await;
    socket.until_event("message_delta").await;
    drop(socket);
    let app = app.restart().await;
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    let answer = &transcript["messages"][1];
    assert_eq!(answer["state"], "interrupted");
    assert!(last_text(&transcript).contains("Halfway."));
    assert_eq!(transcript["status"], "error");
}

#[tokio::test]
async fn a_picture_is_kept_as_a_blob_and_served_as_what_it_is() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let transcript = app.converse(&id, "t1", "[[image]]").await;
    let parts = transcript["messages"][1]["parts"].as_array().unwrap();
    let picture = parts.iter().find(|part| part["type"] == "attachment").unwrap();
    let response = app.get(&format!("/api/blobs/{}", picture["blob"].as_str().unwrap())).await;
    assert_eq!(response.headers()["content-type"], "image/png");
    let bytes = response.bytes().await.unwrap();
    assert_eq!(bytes.len() as u64, picture["size"].as_u64().unwrap());
}

#[tokio::test]
async fn an_attachment_must_have_been_uploaded() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let turn = |blob: &str, turn_id: &str| {
        json!({
            "turn_id": turn_id, "session_id": id, "content": "[[say seen]]",
            "attachments": [{ "blob": blob, "name": "a.txt", "media_type": "text/plain", "size": 5 }],
        })
    };
    let missing = app.post("/api/chat/start", &turn(&"0".repeat(64), "t1")).await;
    assert_eq!(missing.status(), StatusCode::UNPROCESSABLE_ENTITY);
    let address = format!("{}/api/blobs", app.base);
    let stored = app.client.post(address).body("hello").send().await.unwrap();
    let stored: Value = stored.json().await.unwrap();
    let accepted = app.post("/api/chat/start", &turn(stored["blob"].as_str().unwrap(), "t2")).await;
    assert_eq!(accepted.status(), StatusCode::ACCEPTED);
}

fn question_of(transcript: &Value) -> Value {
    let messages = transcript["messages"].as_array().unwrap().iter();
    let mut parts = messages.flat_map(|message| message["parts"].as_array().unwrap());
    parts.find(|part| part["type"] == "question").unwrap().clone()
}
