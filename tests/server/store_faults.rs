//! The promise of a submit, kept by a whole server whose database fails at every single step of a
//! turn: each acknowledged turn is there once, each refused one nowhere, and writing goes on.

use std::fs;
use std::sync::Arc;

use futures::future::join_all;
use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use throughline::server::store::faults::StoreStep;

use crate::crash_storage::CrashDisk;
use crate::database_faults::{DatabaseFaults, Fault};
use crate::test_app::{TestApp, TestSocket};

const PROMPT: &str = "[[say once]]";

struct Bench {
    app: TestApp,
    faults: Arc<DatabaseFaults>,
    disk: CrashDisk,
}

#[derive(Debug, Default)]
struct Tally {
    acknowledged: usize,
    refused: usize,
    lost: usize,
    doubled: usize,
}

impl Tally {
    fn count(&mut self, acknowledged: bool) {
        self.acknowledged += usize::from(acknowledged);
        self.refused += usize::from(!acknowledged);
    }
}

impl Bench {
    async fn start() -> Self {
        let (faults, disk) = (Arc::<DatabaseFaults>::default(), CrashDisk::default());
        let data = TempDir::new().unwrap();
        let app = TestApp::start_with_faults(data, &disk, faults.clone()).await;
        Self { app, faults, disk }
    }

    /// Stops the server and starts another on the same data, whose database does not fail.
    async fn restart(self) -> Self {
        let Self { app, faults, disk } = self;
        faults.heal();
        let (data, _) = app.stop().await;
        let app = TestApp::start_with_faults(data, &disk, faults.clone()).await;
        Self { app, faults, disk }
    }

    async fn transcript(&self, id: &str) -> Value {
        self.app.get_json(&format!("/api/sessions/{id}?limit=200")).await
    }

    /// Counts a turn's prompts in the transcript, and its lines in the journal.
    async fn count(&self, id: &str, turn_id: &str) -> (usize, usize) {
        let transcript = self.transcript(id).await;
        let messages = transcript["messages"].as_array().unwrap().iter();
        let prompts = messages.filter(|it| it["turn_id"] == turn_id && it["role"] == "user");
        let file = self.disk.content(&format!("{id}.jsonl")).unwrap_or_default();
        let lines = file.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let submitted = lines.filter(|line| {
            let line: Value = serde_json::from_slice(line).unwrap();
            line["turn_id"] == turn_id && line["event"] == "submitted"
        });
        (prompts.count(), submitted.count())
    }

    /// Opens a socket that sees every event of some new sessions.
    async fn watch(&self, sessions: usize) -> (TestSocket, Vec<String>) {
        let ids = join_all((0..sessions).map(|_| self.app.new_session())).await;
        let mut socket = self.app.socket().await;
        for id in &ids {
            socket.subscribe(id, None).await;
        }
        (socket, ids)
    }

    /// Waits until so many turns have ended and their sessions have nothing left to do.
    async fn until_ended(&self, socket: &mut TestSocket, ids: &[String], turns: usize) {
        for _ in 0..turns {
            socket.until_event("agent_end").await;
        }
        for id in ids {
            self.transcript(id).await;
        }
    }

    /// Checks a turn after the fault: once if it was acknowledged, nowhere if it was refused.
    async fn check(&self, id: &str, turn_id: &str, acknowledged: bool, tally: &mut Tally) {
        let expected = usize::from(acknowledged);
        let (prompts, lines) = self.count(id, turn_id).await;
        tally.lost += usize::from(prompts < expected || lines < expected);
        tally.doubled += usize::from(prompts > expected || lines > expected);
    }
}

/// Submits a turn and tells whether it was acknowledged; a refusal is in words.
async fn submit(app: &TestApp, id: &str, turn_id: &str) -> bool {
    let response = app.submit(id, turn_id, PROMPT).await;
    let status = response.status();
    let body: Value = response.json().await.unwrap();
    if status == StatusCode::ACCEPTED {
        return true;
    }
    let message = body["error"]["message"].as_str().unwrap();
    assert!(message.contains("Nothing was stored"), "{status}: {body}");
    false
}

/// Plays two turns of a new session with one step of the first failing, and the same turn again.
async fn play_alone(bench: &Bench, number: usize, fault: Fault, tally: &mut Tally) -> String {
    let (mut socket, ids) = bench.watch(1).await;
    let id = &ids[0];
    let (first, second) = (format!("{id}-1"), format!("{id}-2"));
    let hits = bench.faults.hits();
    bench.faults.fail_once(number, fault);
    let acknowledged = submit(&bench.app, id, &first).await;
    bench.until_ended(&mut socket, &ids, usize::from(acknowledged)).await;
    assert_eq!(bench.faults.hits(), hits + 1, "step {number} never came");
    bench.faults.heal();
    bench.check(id, &first, acknowledged, tally).await;
    tally.count(acknowledged);
    assert!(submit(&bench.app, id, &first).await, "{fault:?} at {number}: refused again");
    assert!(submit(&bench.app, id, &second).await, "{fault:?} at {number}: writing stopped");
    bench.until_ended(&mut socket, &ids, 1 + usize::from(!acknowledged)).await;
    for turn_id in [&first, &second] {
        bench.check(id, turn_id, true, tally).await;
    }
    let transcript = bench.transcript(id).await;
    let last = transcript["messages"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["turn_id"], &last["state"]), (&json!(second), &json!("complete")));
    id.clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_survives_a_database_fault_at_every_step() {
    let bench = Bench::start().await;
    let (mut socket, ids) = bench.watch(1).await;
    bench.faults.count();
    assert!(submit(&bench.app, &ids[0], "t1").await);
    bench.until_ended(&mut socket, &ids, 1).await;
    let steps = bench.faults.steps();
    for step in [StoreStep::Begin, StoreStep::Statement, StoreStep::Commit, StoreStep::Committed] {
        assert!(steps.contains(&step), "{step:?} is missing in {steps:?}");
    }
    let (mut tally, mut ids) = (Tally::default(), Vec::new());
    for fault in Fault::OF_SQLITE {
        for number in 0..steps.len() {
            ids.push(play_alone(&bench, number, fault, &mut tally).await);
        }
    }
    let bench = bench.restart().await;
    for id in &ids {
        for turn in [1, 2] {
            bench.check(id, &format!("{id}-{turn}"), true, &mut tally).await;
        }
    }
    println!("{tally:?} over {} steps", steps.len());
    assert_eq!((tally.lost, tally.doubled), (0, 0), "{tally:?}");
    assert!(tally.refused >= 12 && tally.acknowledged > 40, "{tally:?}");
}

/// How many senders submit at the same moment.
const SENDERS: usize = 6;

/// Those who share a transaction fare no worse than those who do not.
#[tokio::test(flavor = "multi_thread")]
async fn turns_of_one_batch_survive_a_database_fault_at_every_step() {
    let bench = Bench::start().await;
    let (mut tally, mut all) = (Tally::default(), Vec::new());
    for fault in Fault::OF_SQLITE {
        for number in 0..12 {
            let (mut socket, ids) = bench.watch(SENDERS).await;
            bench.faults.fail_once(number, fault);
            let acknowledged = join_all(ids.iter().map(|id| submit(&bench.app, id, id))).await;
            let accepted = acknowledged.iter().filter(|accepted| **accepted).count();
            bench.until_ended(&mut socket, &ids, accepted).await;
            bench.faults.heal();
            for (id, acknowledged) in ids.iter().zip(acknowledged) {
                bench.check(id, id, acknowledged, &mut tally).await;
                tally.count(acknowledged);
            }
            let again = join_all(ids.iter().map(|id| submit(&bench.app, id, id))).await;
            assert!(again.iter().all(|accepted| *accepted), "{fault:?} at {number}");
            all.extend(ids);
        }
    }
    let bench = bench.restart().await;
    for id in &all {
        bench.check(id, id, true, &mut tally).await;
    }
    println!("{tally:?} among {SENDERS} at once");
    assert_eq!((tally.lost, tally.doubled), (0, 0), "{tally:?}");
    assert!(tally.refused > 4, "{tally:?}");
}

/// A refused turn that is never sent again is nowhere, also after a restart.
#[tokio::test]
async fn a_refused_turn_does_not_come_back() {
    for (step, fault) in [
        (StoreStep::Begin, Fault::Busy),
        (StoreStep::Statement, Fault::Full),
        (StoreStep::Commit, Fault::Io),
    ] {
        let bench = Bench::start().await;
        let id = bench.app.new_session().await;
        let concerns: fn(StoreStep) -> bool = match step {
            StoreStep::Begin => |step| step == StoreStep::Begin,
            StoreStep::Statement => |step| step == StoreStep::Statement,
            _ => |step| step == StoreStep::Commit,
        };
        bench.faults.fail_every(fault, concerns);
        assert!(!submit(&bench.app, &id, "t1").await);
        let bench = bench.restart().await;
        assert_eq!(bench.count(&id, "t1").await, (0, 0), "{step:?}");
        let report = bench.app.get_json("/api/session/recovery/audit").await;
        assert_eq!(report["findings"], json!([]), "{report}");
    }
}

/// A failed sync may have dropped what the log holds, and the next one would not say so: nothing is
/// called completed before a checkpoint has copied the log.
#[tokio::test]
async fn nothing_is_completed_after_a_failed_sync_until_a_checkpoint_succeeds() {
    let bench = Bench::start().await;
    let (mut socket, ids) = bench.watch(1).await;
    let id = ids[0].clone();
    let steps = |bench: &Bench| {
        let file = bench.disk.content(&format!("{id}.jsonl")).unwrap();
        crate::at_rest::steps_in(&file).into_iter().filter(|step| step == "completed").count()
    };
    bench.faults.fail_every(Fault::Io, |step| step == StoreStep::SyncLog);
    assert!(submit(&bench.app, &id, "t1").await);
    bench.until_ended(&mut socket, &ids, 1).await;
    assert_eq!(steps(&bench), 0, "the answer is not on the disk");

    // Syncs succeed again; what the failed one lost is still lost.
    bench.faults.heal();
    bench.faults.fail_every(Fault::Io, |step| step == StoreStep::Checkpoint);
    assert!(submit(&bench.app, &id, "t2").await);
    bench.until_ended(&mut socket, &ids, 1).await;
    assert_eq!(steps(&bench), 0, "no checkpoint has succeeded");

    bench.faults.heal();
    assert!(submit(&bench.app, &id, "t3").await);
    bench.until_ended(&mut socket, &ids, 1).await;
    assert_eq!(steps(&bench), 1);
    let log = bench.app.data.path().join("throughline.db-wal");
    assert!(fs::metadata(log).unwrap().len() < 1 << 20, "the checkpoint emptied the log");
    let bench = bench.restart().await;
    assert_eq!(steps(&bench), 3, "the answers were whole after all");
}

/// A panic in a session's task ends its turns visibly, and the next message starts a new task.
#[tokio::test]
async fn a_session_whose_task_panicked_starts_again() {
    let bench = Bench::start().await;
    let id = bench.app.new_session().await;
    bench.faults.fail_next(Fault::Panic, |step| step == StoreStep::SyncLog);
    assert!(submit(&bench.app, &id, "t1").await);
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while bench.app.get_json("/api/session/recovery/audit").await["under_way"] != 0 {
        assert!(std::time::Instant::now() < patience, "the turn does not end");
    }
    bench.faults.heal();
    let transcript = bench.transcript(&id).await;
    assert_eq!(transcript["messages"].as_array().unwrap().len(), 2, "{transcript}");
    assert_ne!(transcript["messages"][1]["state"], "streaming");
    for round in 2..5 {
        let transcript = bench.app.converse(&id, &format!("t{round}"), "[[say again]]").await;
        let messages = transcript["messages"].as_array().unwrap();
        assert_eq!(messages.len(), 2 * round, "{transcript}");
        assert_eq!(messages.last().unwrap()["state"], "complete");
    }
    let report = bench.app.get_json("/api/session/recovery/audit").await;
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().all(|it| it["severity"] == "ok"), "{report}");
}
