//! A data directory that version 0.1 left after a power loss: `tests/fixtures/data_0_1`.
//!
//! Two turns are in the log that sessions shared then, and nowhere else. There are a compressed
//! conversation, a branch, an attachment, an unfinished answer and a question nobody answered.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::test_app::TestApp;

fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_dir(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

async fn start() -> (TestApp, Value) {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/data_0_1");
    let ids = serde_json::from_slice(&fs::read(fixture.join("ids.json")).unwrap()).unwrap();
    let data = TempDir::new().unwrap();
    copy_dir(&fixture, data.path());
    (TestApp::start_with(data, TempDir::new().unwrap()).await, ids)
}

async fn messages(app: &TestApp, id: &Value) -> Vec<Value> {
    let id = id.as_str().unwrap();
    let transcript = app.get_json(&format!("/api/sessions/{id}?limit=200")).await;
    transcript["messages"].as_array().unwrap().clone()
}

fn texts(messages: &[Value]) -> Vec<&str> {
    let parts = messages.iter().flat_map(|message| message["parts"].as_array().unwrap());
    parts.filter_map(|part| part["text"].as_str()).collect()
}

#[tokio::test]
async fn turns_of_the_shared_log_are_put_back_once_and_the_log_goes() {
    let (app, ids) = start().await;
    let lost: Vec<_> = ids["lost"].as_array().unwrap().clone();
    assert_eq!(lost.len(), 2);
    let check = async |app: &TestApp| {
        let mut found = Vec::new();
        for id in ids["shared"].as_array().unwrap() {
            for message in messages(app, id).await {
                if message["role"] == "user" {
                    found.push(message["turn_id"].clone());
                }
            }
        }
        for turn in &lost {
            assert_eq!(found.iter().filter(|it| *it == turn).count(), 1, "{turn}");
        }
        assert_eq!(found.len(), 8, "four conversations of two turns: {found:?}");
        let report = app.get_json("/api/session/recovery/audit").await;
        let findings = report["findings"].as_array().unwrap();
        assert!(findings.iter().all(|it| it["severity"] == "ok"), "{report}");
    };
    check(&app).await;
    assert!(!app.data.path().join("_turn_journal/together.lines").exists());
    let app = app.restart().await;
    check(&app).await;
}

#[tokio::test]
async fn everything_else_is_as_it_was() {
    let (app, ids) = start().await;
    let plain = messages(&app, &ids["plain"]).await;
    assert!(texts(&plain).contains(&"Hello there."));
    let attachment = plain.iter().flat_map(|it| it["parts"].as_array().unwrap());
    let attachment = attachment.clone().find(|part| part["type"] == "attachment").unwrap();
    let blob = app.get(&format!("/api/blobs/{}", attachment["blob"].as_str().unwrap())).await;
    assert_eq!(blob.text().await.unwrap(), "attached text");

    let compressed = format!("/api/sessions/{}", ids["compressed"].as_str().unwrap());
    assert_eq!(app.get_json(&compressed).await["continuation"], ids["continuation"]);
    assert!(texts(&messages(&app, &ids["continuation"]).await).contains(&"After."));
    assert_eq!(texts(&messages(&app, &ids["fork"]).await)[..2], texts(&plain)[..2]);

    let question = messages(&app, &ids["question"]).await;
    assert_eq!(question.last().unwrap()["state"], "waiting", "the question is still asked");
    let unfinished = messages(&app, &ids["unfinished"]).await;
    let last = unfinished.last().unwrap();
    assert_eq!(last["state"], "interrupted");
    assert_eq!(texts(std::slice::from_ref(last)), ["Halfway."]);

    let id = ids["plain"].as_str().unwrap();
    let transcript = app.converse(id, "new-turn", "[[say Still works.]]").await;
    assert_eq!(crate::test_app::last_text(&transcript), "Still works.");
    assert_eq!(transcript["status"], json!("idle"));
}
