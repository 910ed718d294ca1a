//! A prompt that its sender took back does not come back.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;
use throughline::server::store::faults::{NoFaults, StoreStep};

use crate::at_rest::steps_in;
use crate::crash_storage::{CrashDisk, Fate, Operation};
use crate::database_faults::{DatabaseFaults, Fault};
use crate::test_app::{TestApp, TestSocket};

const WITHDRAWN: &str = "a heron that is taken back";

/// Starts a turn that hangs, and sends another that waits for it.
async fn with_a_waiting_prompt(app: &TestApp) -> (TestSocket, String) {
    let id = app.new_session().await;
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    app.submit(&id, "t1", "[[hang]]").await;
    socket.until_event("agent_start").await;
    app.submit(&id, "t2", WITHDRAWN).await;
    // Answered by the session's loop, so the prompt is in its queue by now.
    app.get_json(&format!("/api/sessions/{id}")).await;
    (socket, id)
}

async fn withdraw(socket: &mut TestSocket, id: &str) -> Value {
    socket.command(id, &json!({ "type": "withdraw", "turn_id": "t2" })).await
}

async fn assert_gone(app: &TestApp, id: &str) {
    let shown = async || app.get_json(&format!("/api/sessions/{id}")).await["messages"].to_string();
    assert!(!shown().await.contains("heron"), "{}", shown().await);
    assert_eq!(app.get_json("/api/search?q=heron").await, json!([]));
    let late: Value = app.submit(id, "t2", WITHDRAWN).await.json().await.unwrap();
    assert_eq!((&late["accepted"], &late["state"]), (&json!(false), &json!("interrupted")));
    assert!(!shown().await.contains("heron"), "a late copy revived it: {}", shown().await);
}

#[tokio::test]
async fn a_late_copy_of_a_withdrawn_turn_revives_nothing() {
    let app = TestApp::start().await;
    let (mut socket, id) = with_a_waiting_prompt(&app).await;
    assert_eq!(withdraw(&mut socket, &id).await["ok"], true);
    assert_gone(&app, &id).await;
    let other = app.submit(&id, "t2", "other words").await;
    assert_eq!(other.status(), reqwest::StatusCode::CONFLICT);
    drop(socket);
    let app = app.restart().await;
    assert_gone(&app, &id).await;
}

fn copy_database(from: &Path, to: &Path) {
    for name in ["throughline.db", "throughline.db-wal"] {
        fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

/// The journal's line is on the disk before the reply. What the store did may be lost.
#[tokio::test]
async fn a_withdrawn_prompt_stays_away_after_a_power_cut() {
    let disk = CrashDisk::default();
    let app = TestApp::start_on(&disk).await;
    let (mut socket, id) = with_a_waiting_prompt(&app).await;
    let before = TempDir::new().unwrap();
    copy_database(app.data.path(), before.path());
    assert_eq!(withdraw(&mut socket, &id).await["ok"], true);
    let after_power_cut = disk.reboot(Fate::Lost, Fate::Lost);
    let app = TestApp::start_with_faults(before, &after_power_cut, Arc::new(NoFaults)).await;
    assert_gone(&app, &id).await;
    let report = app.get_json("/api/session/recovery/audit").await;
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["severity"] == "ok"), "{report}");
}

/// What cannot be withdrawn stays in the queue, whole, and is answered when its time comes.
#[tokio::test]
async fn a_withdrawal_that_fails_changes_nothing() {
    for by_journal in [true, false] {
        let (disk, faults) = (CrashDisk::default(), Arc::<DatabaseFaults>::default());
        let data = TempDir::new().unwrap();
        let app = TestApp::start_with_faults(data, &disk, faults.clone()).await;
        let (mut socket, id) = with_a_waiting_prompt(&app).await;
        if by_journal {
            disk.fail(ErrorKind::StorageFull, 0, |operation| operation == Operation::Sync);
        } else {
            faults.fail_every(Fault::Full, |step| step == StoreStep::Statement);
        }
        let refused = withdraw(&mut socket, &id).await;
        assert_eq!(refused["error"]["code"], "disk_full", "{refused}");
        disk.heal();
        faults.heal();
        let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
        assert_eq!(transcript["queued"], json!(["t2"]));
        let file = disk.content(&format!("{id}.jsonl")).unwrap();
        assert!(!steps_in(&file).contains(&"interrupted".to_owned()));
        assert_eq!(withdraw(&mut socket, &id).await["ok"], true);
        assert_gone(&app, &id).await;
    }
}

/// A COMMIT that reported an error and took effect has hidden the prompt, so it is not answered.
#[tokio::test]
async fn a_withdrawal_whose_commit_took_effect_counts() {
    let (disk, faults) = (CrashDisk::default(), Arc::<DatabaseFaults>::default());
    let data = TempDir::new().unwrap();
    let app = TestApp::start_with_faults(data, &disk, faults.clone()).await;
    let (mut socket, id) = with_a_waiting_prompt(&app).await;
    faults.fail_next(Fault::Io, |step| step == StoreStep::Committed);
    assert_eq!(withdraw(&mut socket, &id).await["ok"], true);
    assert_gone(&app, &id).await;
    let file = disk.content(&format!("{id}.jsonl")).unwrap();
    assert!(steps_in(&file).contains(&"interrupted".to_owned()));
}
