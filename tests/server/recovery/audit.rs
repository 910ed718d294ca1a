//! What the audit tells of a server at work, by each of its doors.

use std::fs;

use reqwest::StatusCode;
use serde_json::{Value, json};

use super::{AUDIT, findings};
use crate::at_rest::{AtRest, LONG_AGO, interrupted, submission, turn};
use crate::test_app::TestApp;

#[tokio::test]
async fn a_running_turn_is_under_way_and_no_finding_and_repair_leaves_it_alone() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    app.submit(&id, "t1", "[[say Started.]][[ask Go on? | Yes]]").await;
    socket.until_event("question").await;
    app.submit(&id, "t2", "[[say Waiting in line.]]").await;
    let report = app.get_json(AUDIT).await;
    assert_eq!((&report["under_way"], &report["turns"]), (&json!(2), &json!(2)), "{report}");
    assert_eq!(report["findings"], json!([]));
    let file = app.data.path().join(format!("_turn_journal/{id}.jsonl"));
    let before = fs::read(&file).unwrap();
    let repair = app.post("/api/session/recovery/repair", &json!({ "apply": true })).await;
    let repair: Value = repair.json().await.unwrap();
    assert_eq!(repair, json!({ "applied": true, "repairs": [] }));
    assert_eq!(fs::read(&file).unwrap(), before);
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    assert_eq!(transcript["status"], "waiting", "it still runs");

    assert_eq!(socket.command(&id, &json!({ "type": "cancel" })).await["ok"], true);
    socket.until_event("agent_end").await;
    socket.until_event("agent_end").await;
    let report = app.get_json(AUDIT).await;
    assert_eq!(report["under_way"], 0);
    assert_eq!(findings(&app).await, [] as [Value; 0]);
    assert_eq!(report["findings"][0]["kind"], "turn_journal_interrupted_turn");
    assert_eq!(report["findings"][0]["severity"], "ok", "the conversation shows the stop");
}

#[tokio::test]
async fn a_file_that_a_message_lost_is_a_finding() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let stored = app.client.post(format!("{}/api/blobs", app.base)).body("hello").send().await;
    let blob: Value = stored.unwrap().json().await.unwrap();
    let name = blob["blob"].as_str().unwrap();
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    let turn = json!({
        "turn_id": "t1", "session_id": id, "content": "[[say seen]]",
        "attachments": [{ "blob": name, "name": "a.txt", "media_type": "text/plain", "size": 5 }],
    });
    app.post("/api/chat/start", &turn).await;
    socket.until_event("agent_end").await;
    assert_eq!(findings(&app).await, [] as [Value; 0]);
    fs::remove_file(app.data.path().join("blobs").join(name)).unwrap();
    let found = findings(&app).await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["kind"], "turn_journal_missing_blob");
    assert_eq!(found[0]["turn_id"], "t1");
    assert!(found[0]["message"].as_str().unwrap().contains("a.txt"), "{found:?}");
}

#[tokio::test]
async fn json_rpc_tells_the_same_as_rest() {
    let rest = AtRest::new().await;
    rest.plant("gone.jsonl", b"{\n");
    rest.journal(&turn(&rest.session_id, "t1", LONG_AGO, &[submission("One."), interrupted()]));
    let app = rest.start().await;
    let by_rest = app.get_json(AUDIT).await;
    assert!(by_rest["findings"].as_array().unwrap().len() >= 3, "{by_rest}");
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "auditRecovery" });
    let by_rpc: Value = app.post("/rpc", &request).await.json().await.unwrap();
    assert_eq!(by_rpc["result"], by_rest);
}

#[tokio::test]
async fn one_journal_is_shown_turn_by_turn_without_what_its_files_hold() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let path = format!("/api/session/turn-journal?session_id={id}");
    assert_eq!(app.get(&path).await.status(), StatusCode::NOT_FOUND, "nothing was sent yet");
    let stored = app.client.post(format!("{}/api/blobs", app.base)).body("payload").send().await;
    let blob: Value = stored.unwrap().json().await.unwrap();
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    let file =
        json!({ "blob": blob["blob"], "name": "a.txt", "media_type": "text/plain", "size": 7 });
    let turn = json!({
        "turn_id": "t1", "session_id": id, "content": "[[say seen]]", "attachments": [file],
    });
    app.post("/api/chat/start", &turn).await;
    socket.until_event("agent_end").await;
    app.converse(&id, "t2", "[[error Too busy]]").await;
    let view = app.get_json(&path).await;
    let turns = view["turns"].as_array().unwrap();
    let summary: Vec<_> =
        turns.iter().map(|it| [&it["turn_id"], &it["state"], &it["reason"]]).collect();
    let expected = [json!(["t1", "completed", null]), json!(["t2", "interrupted", "agent_error"])];
    assert_eq!(json!(summary), json!(expected));
    assert_eq!((&view["session_id"], &view["problems"]), (&json!(id), &json!([])));
    assert_eq!(turns[0]["content"], "[[say seen]]");
    assert_eq!(turns[0]["attachments"], json!([file]), "described, not shown");
    assert!(!view.to_string().contains("payload"));
    let missing = app.get("/api/session/turn-journal").await;
    assert_eq!(missing.status(), StatusCode::UNPROCESSABLE_ENTITY);
}
