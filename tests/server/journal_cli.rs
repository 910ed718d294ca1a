//! `throughline audit`, `repair` and `journal prune`, as a person runs them.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tempfile::TempDir;
use throughline::domain::message::MessageState;
use throughline::server::store::Store;
use throughline::wire::journal::{Record, TurnEvent};

use crate::at_rest::{AtRest, LONG_AGO, answer, completed, prompt, steps_in, submission, turn};
use crate::live_process::{BINARY, LiveProcess};

const WHOLE: [TurnEvent; 2] = [TurnEvent::WorkerStarted, TurnEvent::AssistantStarted];

fn run(data: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(BINARY);
    command.args(arguments).arg("--data-dir").arg(data).stdin(Stdio::null());
    command.output().unwrap()
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64()
}

fn whole_turn(rest: &AtRest, turn_id: &str, at: f64) -> Vec<Record> {
    let events = [&[submission("Do it.")], WHOLE.as_slice(), &[completed()]].concat();
    turn(&rest.session_id, turn_id, at, &events)
}

/// A conversation whose only turn is in the journal and nowhere else.
async fn with_a_lost_turn() -> AtRest {
    let rest = AtRest::new().await;
    rest.journal(&turn(&rest.session_id, "t1", LONG_AGO, &[submission("Lost words.")]));
    rest
}

async fn stored_texts(rest: &AtRest) -> Vec<String> {
    let store = Store::open(rest.data.path()).await.unwrap();
    let page = store.message_page(&rest.session_id, None, 100).await.unwrap();
    store.close().await;
    page.messages.iter().map(|message| message.text()).collect()
}

#[tokio::test]
async fn audit_says_that_all_is_in_order() {
    let rest = AtRest::new().await;
    rest.journal(&whole_turn(&rest, "t1", LONG_AGO));
    let output = run(rest.data.path(), &["audit"]);
    assert!(output.status.success());
    assert_eq!(words(&output.stdout), "1 turns in 1 journals.\nAll is in order.\n");
}

#[tokio::test]
async fn audit_tells_findings_in_words_and_as_json_and_fails() {
    let rest = with_a_lost_turn().await;
    rest.plant("gone.jsonl", b"");
    let before = fs::read(rest.journal_file()).unwrap();
    let output = run(rest.data.path(), &["audit"]);
    assert_eq!(output.status.code(), Some(1));
    let text = words(&output.stdout);
    assert!(text.contains("[repairable]") && text.contains("missing from its"), "{text}");
    assert!(text.contains("[look] gone.jsonl"), "{text}");
    assert!(!text.contains("in order"), "{text}");

    let output = run(rest.data.path(), &["audit", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = report["findings"].as_array().unwrap();
    let pending = found.iter().find(|it| it["turn_id"] == "t1").unwrap();
    assert_eq!(pending["kind"], "turn_journal_pending_turn");
    assert_eq!(report["turns"], 1);
    assert_eq!(fs::read(rest.journal_file()).unwrap(), before);
    assert_eq!(stored_texts(&rest).await, [] as [&str; 0], "an audit only looks");
}

#[tokio::test]
async fn repair_changes_nothing_until_it_is_told_to() {
    let rest = with_a_lost_turn().await;
    let before = fs::read(rest.journal_file()).unwrap();
    let output = run(rest.data.path(), &["repair"]);
    assert!(output.status.success());
    let text = words(&output.stdout);
    assert!(text.contains("put a message back"), "{text}");
    assert!(text.contains("Nothing was changed. Run it with --apply"), "{text}");
    assert_eq!(fs::read(rest.journal_file()).unwrap(), before);
    assert_eq!(stored_texts(&rest).await, [] as [&str; 0]);

    let output = run(rest.data.path(), &["repair", "--apply", "--json"]);
    assert!(output.status.success());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["applied"], &report["repairs"][0]["turn_id"]),
        (&true.into(), &"t1".into())
    );
    assert_eq!(stored_texts(&rest).await, ["Lost words.", ""]);
    let after = fs::read(rest.journal_file()).unwrap();
    assert_eq!(steps_in(&after), ["submitted", "interrupted"]);
    assert!(words(&after).contains("\"reason\":\"repair\""));

    assert!(run(rest.data.path(), &["audit"]).status.success());
    let again = run(rest.data.path(), &["repair", "--apply"]);
    assert_eq!(words(&again.stdout), "There is nothing to repair.\n");
    assert_eq!(fs::read(rest.journal_file()).unwrap(), after);
}

#[tokio::test]
async fn prune_drops_old_ended_turns_and_keeps_the_rest_byte_for_byte() {
    let rest = AtRest::new().await;
    let day = 86_400.0;
    let old = whole_turn(&rest, "old", now() - 31.0 * day);
    let young = whole_turn(&rest, "young", now() - 29.0 * day);
    let began_long_ago = whole_turn(&rest, "long", now() - 40.0 * day);
    let ended_lately = turn(&rest.session_id, "long", now() - day, &[completed()]);
    let mixed: Vec<_> = old.iter().zip(&young).flat_map(|(old, young)| [old, young]).collect();
    let kept = began_long_ago[..3].iter().chain(&ended_lately);
    let all: Vec<Record> = mixed.into_iter().chain(kept.clone()).cloned().collect();
    rest.journal(&all);
    let expected: Vec<Record> = young.iter().chain(kept).cloned().collect();
    let expected: Vec<_> = expected.iter().map(|record| record.to_line().unwrap()).collect();

    let output = run(rest.data.path(), &["journal", "prune", "--older-than", "30d"]);
    assert!(output.status.success(), "{}", words(&output.stderr));
    assert_eq!(words(&output.stdout), "Pruned 1 turns from 1 journals.\n");
    assert_eq!(words(&fs::read(rest.journal_file()).unwrap()), expected.concat());

    let again = run(rest.data.path(), &["journal", "prune", "--older-than", "30d"]);
    assert_eq!(words(&again.stdout), "Pruned 0 turns from 0 journals.\n");
    let rest_of_it = run(rest.data.path(), &["journal", "prune", "--older-than", "0s"]);
    assert_eq!(words(&rest_of_it.stdout), "Pruned 2 turns from 1 journals.\n");
    assert!(!rest.journal_file().exists(), "an empty journal goes");
}

#[tokio::test]
async fn prune_refuses_while_the_audit_has_findings() {
    let rest = AtRest::new().await;
    rest.journal(&whole_turn(&rest, "old", LONG_AGO));
    rest.journal(&turn(&rest.session_id, "lost", LONG_AGO, &[submission("Lost.")]));
    let before = fs::read(rest.journal_file()).unwrap();
    let output = run(rest.data.path(), &["journal", "prune", "--older-than", "30d"]);
    assert_eq!(output.status.code(), Some(1));
    let text = words(&output.stderr);
    assert!(text.contains("Nothing was pruned") && text.contains("[repairable]"), "{text}");
    assert_eq!(fs::read(rest.journal_file()).unwrap(), before);
}

#[tokio::test]
async fn prune_drops_turns_that_were_interrupted_and_say_so() {
    let rest = AtRest::new().await;
    let events = [submission("Do it."), TurnEvent::Interrupted { reason: None }];
    rest.journal(&turn(&rest.session_id, "t1", LONG_AGO, &events));
    rest.store(&[prompt("t1", "Do it."), answer("t1", MessageState::Interrupted, "Half")]).await;
    let output = run(rest.data.path(), &["journal", "prune", "--older-than", "30d"]);
    assert_eq!(words(&output.stdout), "Pruned 1 turns from 1 journals.\n");
    assert_eq!(stored_texts(&rest).await, ["Do it.", "Half"], "the conversation stays whole");
}

#[test]
fn prune_asks_for_an_age_that_it_understands() {
    let data = TempDir::new().unwrap();
    for age in ["30", "d", "-3d", "1.5h", "soon", ""] {
        let output = run(data.path(), &["journal", "prune", &format!("--older-than={age}")]);
        assert_eq!(output.status.code(), Some(2), "{age:?}");
        assert!(words(&output.stderr).contains("such as 30d"), "{age:?}");
    }
    assert_eq!(run(data.path(), &["journal", "prune"]).status.code(), Some(2));
}

#[test]
fn a_folder_without_data_is_refused_and_left_as_it_is() {
    let commands: [&[&str]; 5] = [
        &["audit"],
        &["audit", "--json"],
        &["repair"],
        &["repair", "--apply"],
        &["journal", "prune", "--older-than", "30d"],
    ];
    let around = TempDir::new().unwrap();
    let (missing, empty) = (around.path().join("missing"), around.path().join("empty"));
    fs::create_dir(&empty).unwrap();
    for arguments in commands {
        for folder in [&missing, &empty] {
            let output = run(folder, arguments);
            assert!(!output.status.success(), "{arguments:?}");
            let text = words(&output.stderr);
            assert!(text.contains("is no data directory"), "{arguments:?}: {text}");
        }
        assert!(!missing.exists(), "{arguments:?} made the folder");
        assert_eq!(fs::read_dir(&empty).unwrap().count(), 0, "{arguments:?} wrote into it");
    }
}

#[tokio::test]
async fn what_changes_data_waits_until_the_server_has_left() {
    let rest = AtRest::new().await;
    rest.journal(&whole_turn(&rest, "old", LONG_AGO));
    let before = fs::read(rest.journal_file()).unwrap();
    let server = LiveProcess::start(rest.data.path()).await;
    let commands: [&[&str]; 2] =
        [&["repair", "--apply"], &["journal", "prune", "--older-than", "30d"]];
    for arguments in commands {
        let output = run(rest.data.path(), arguments);
        assert!(!output.status.success(), "{arguments:?}");
        let text = words(&output.stderr);
        assert!(text.contains("another Throughline uses"), "{arguments:?}: {text}");
    }
    assert!(run(rest.data.path(), &["audit"]).status.success(), "looking is always allowed");
    assert_eq!(fs::read(rest.journal_file()).unwrap(), before);
    server.kill().await;
    assert!(run(rest.data.path(), &["repair", "--apply"]).status.success());
}
