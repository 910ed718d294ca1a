//! A disk that refuses for a while, under a server that goes on.

use std::io::ErrorKind;

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::at_rest::steps_in;
use crate::crash_storage::{CrashDisk, Operation};
use crate::test_app::{TestApp, TestSocket, last_text};

fn writes(operation: Operation) -> bool {
    matches!(operation, Operation::Append(_))
}

fn syncs(operation: Operation) -> bool {
    operation == Operation::Sync
}

/// Answers the question that the session waits with.
async fn answer(app: &TestApp, socket: &mut TestSocket, id: &str) {
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    let messages = transcript["messages"].as_array().unwrap().iter().rev();
    let mut parts = messages.flat_map(|message| message["parts"].as_array().unwrap());
    let open = parts.find(|part| part["type"] == "question" && part["answer"].is_null()).unwrap();
    let option = &open["options"][0]["option"];
    let command = json!({ "type": "answer", "request_id": open["request_id"], "option": option });
    assert_eq!(socket.command(id, &command).await["ok"], true);
}

#[tokio::test]
async fn a_turn_that_the_journal_refuses_is_refused_in_words_and_taken_once_it_can_be() {
    let failures = [
        (ErrorKind::StorageFull, StatusCode::INSUFFICIENT_STORAGE, "disk_full"),
        (ErrorKind::ReadOnlyFilesystem, StatusCode::SERVICE_UNAVAILABLE, "disk_failed"),
        (ErrorKind::Other, StatusCode::SERVICE_UNAVAILABLE, "disk_failed"),
    ];
    for concerns in [writes as fn(Operation) -> bool, syncs] {
        for (kind, status, code) in failures {
            let disk = CrashDisk::default();
            let app = TestApp::start_on(&disk).await;
            let id = app.new_session().await;
            disk.fail(kind, 20, concerns);
            for _ in 0..2 {
                let refused = app.submit(&id, "t1", "[[say once]]").await;
                assert_eq!(refused.status(), status);
                let body: Value = refused.json().await.unwrap();
                assert_eq!(body["error"]["code"], code, "{body}");
                let words = body["error"]["message"].as_str().unwrap();
                assert!(words.contains("disk") && words.contains("Nothing was stored"), "{words}");
            }
            let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
            assert_eq!(transcript["messages"], json!([]), "nothing is half there");
            disk.heal();
            let transcript = app.converse(&id, "t1", "[[say once]]").await;
            assert_eq!(transcript["messages"].as_array().unwrap().len(), 2);
            let file = disk.content(&format!("{id}.jsonl")).unwrap();
            let whole = ["submitted", "worker_started", "assistant_started", "completed"];
            assert_eq!(steps_in(&file), whole);
        }
    }
}

/// What could not be written down while the disk was full is written with the next step, so the
/// journal never tells of an end without its beginning.
#[tokio::test]
async fn steps_that_a_full_disk_refused_are_written_once_there_is_room() {
    let disk = CrashDisk::default();
    let app = TestApp::start_on(&disk).await;
    let id = app.new_session().await;
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    app.submit(&id, "t1", "[[ask First? | Yes]]").await;
    socket.until_event("question").await;
    app.submit(&id, "t2", "[[ask Second? | Yes]]").await;
    disk.fail(ErrorKind::StorageFull, 0, writes);
    answer(&app, &mut socket, &id).await;
    socket.until_event("agent_end").await;
    socket.until_event("question").await;
    disk.heal();
    answer(&app, &mut socket, &id).await;
    socket.until_event("agent_end").await;

    let view = app.get_json(&format!("/api/session/turn-journal?session_id={id}")).await;
    assert_eq!(view["problems"], json!([]), "{view}");
    let states: Vec<_> =
        view["turns"].as_array().unwrap().iter().map(|turn| &turn["state"]).collect();
    assert_eq!(states, ["assistant_started", "completed"], "the first end never came through");
    let report = app.get_json("/api/session/recovery/audit").await;
    let finding = &report["findings"][0];
    assert_eq!((&finding["turn_id"], &finding["severity"]), (&json!("t1"), &json!("repairable")));
    assert_eq!(report["under_way"], 0, "{report}");

    app.post("/api/session/recovery/repair", &json!({ "apply": true })).await;
    let report = app.get_json("/api/session/recovery/audit").await;
    assert_eq!(report["findings"], json!([]), "the answer was whole, so is the turn");
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    assert!(last_text(&transcript).contains("Yes"), "{transcript}");
}
