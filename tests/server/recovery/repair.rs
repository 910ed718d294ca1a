//! Repair of what came to the journal of a server that runs already.

use std::fs;

use serde_json::{Value, json};
use throughline::domain::ids::SessionId;
use throughline::wire::journal::TurnEvent;

use super::{AUDIT, findings, messages, text_of};
use crate::at_rest::{LONG_AGO, interrupted, steps_in, submission, turn};
use crate::test_app::TestApp;

/// Puts a turn into the journal of a conversation that has none, behind the server's back.
fn plant(app: &TestApp, id: &str, events: &[TurnEvent]) -> std::path::PathBuf {
    let session = SessionId::parse(id).unwrap();
    let lines: Vec<_> = turn(&session, &format!("turn-of-{id}"), LONG_AGO, events)
        .iter()
        .map(|record| record.to_line().unwrap())
        .collect();
    let file = app.data.path().join(format!("_turn_journal/{id}.jsonl"));
    fs::write(&file, lines.concat()).unwrap();
    file
}

async fn repair(app: &TestApp, body: &Value) -> Value {
    app.post("/api/session/recovery/repair", body).await.json().await.unwrap()
}

#[tokio::test]
async fn repair_tells_first_and_does_only_what_it_told() {
    let app = TestApp::start().await;
    let (lost, silent) = (app.new_session().await, app.new_session().await);
    let lost_file = plant(&app, &lost, &[submission("Lost."), TurnEvent::WorkerStarted]);
    let silent_file = plant(&app, &silent, &[submission("Silent."), interrupted()]);
    let found = findings(&app).await;
    let about = |id: &str| found.iter().find(|it| it["session_id"] == id).unwrap().clone();
    assert_eq!(about(&lost)["kind"], "turn_journal_pending_turn");
    assert_eq!(about(&lost)["severity"], "repairable");
    assert_eq!(about(&silent)["kind"], "turn_journal_interrupted_turn");
    assert_eq!(about(&silent)["severity"], "warn");

    let (lost_bytes, silent_bytes) = (fs::read(&lost_file), fs::read(&silent_file));
    let told = repair(&app, &json!({})).await;
    assert_eq!(told["applied"], false);
    assert_eq!(messages(&app, &lost).await, [] as [Value; 0], "telling changed something");
    assert_eq!(messages(&app, &silent).await, [] as [Value; 0]);
    assert_eq!(fs::read(&lost_file).unwrap(), lost_bytes.unwrap());
    assert_eq!(fs::read(&silent_file).unwrap(), *silent_bytes.as_ref().unwrap());
    assert_eq!(findings(&app).await, found);

    let done = repair(&app, &json!({ "apply": true })).await;
    assert_eq!((&done["applied"], &done["repairs"]), (&json!(true), &told["repairs"]));
    let actions = |id: &str| {
        let repairs = done["repairs"].as_array().unwrap();
        repairs.iter().find(|it| it["session_id"] == id).unwrap()["actions"].clone()
    };
    assert_eq!(
        actions(&lost),
        json!(["restore_prompt", "mark_interrupted", "close_as_interrupted"])
    );
    assert_eq!(actions(&silent), json!(["restore_prompt", "mark_interrupted"]));
    for (id, text) in [(&lost, "Lost."), (&silent, "Silent.")] {
        let shown = messages(&app, id).await;
        assert_eq!((shown.len(), text_of(&shown[0])), (2, text.to_owned()));
        assert_eq!(
            (&shown[0]["recovered"], &shown[1]["state"]),
            (&json!(true), &json!("interrupted"))
        );
    }
    let steps = steps_in(&fs::read(&lost_file).unwrap());
    assert_eq!(steps, ["submitted", "worker_started", "interrupted"]);
    assert_eq!(fs::read(&silent_file).unwrap(), silent_bytes.unwrap(), "it had its end");

    assert_eq!(findings(&app).await, [] as [Value; 0], "the second audit is clean");
    let again = repair(&app, &json!({ "apply": true })).await;
    assert_eq!(again["repairs"], json!([]), "nothing is left to do");
    assert_eq!(messages(&app, &lost).await.len(), 2);
}

#[tokio::test]
async fn what_only_a_person_can_judge_is_not_repaired() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let file = plant(&app, &id, &[TurnEvent::AssistantStarted]);
    let orphan = plant(&app, "nobody", &[submission("Whose?")]);
    let before = (fs::read(&file).unwrap(), fs::read(&orphan).unwrap());
    let report = app.get_json(AUDIT).await;
    let severities: Vec<_> =
        report["findings"].as_array().unwrap().iter().map(|it| &it["severity"]).collect();
    assert_eq!(severities, ["manual", "manual"], "{report}");
    let done = repair(&app, &json!({ "apply": true })).await;
    assert_eq!(done["repairs"], json!([]));
    assert_eq!((fs::read(&file).unwrap(), fs::read(&orphan).unwrap()), before);
    assert_eq!(app.get_json(AUDIT).await, report);
}
