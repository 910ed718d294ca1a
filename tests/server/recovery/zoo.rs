//! Files that no server wrote: each is told about, none stops a start or hides another.

use std::fs;

use serde_json::{Value, json};

use super::{findings, messages, text_of};
use crate::at_rest::{AtRest, LONG_AGO, completed, submission, turn};
use crate::server::turn_crash::rows::connect;
use crate::test_app::TestApp;
use throughline::wire::journal::TurnEvent;

const WHOLE: [TurnEvent; 2] = [TurnEvent::WorkerStarted, TurnEvent::AssistantStarted];

fn line(id: &str, changes: Value) -> Vec<u8> {
    let mut line = json!({
        "version": 1, "event": "submitted", "turn_id": "z1", "session_id": id, "role": "user",
        "created_at": LONG_AGO, "content": "Hello.", "attachments": [], "workspace": "/",
    });
    line.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    format!("{line}\n").into_bytes()
}

/// One bad file, and what the audit is to call it.
struct Beast {
    name: &'static str,
    bytes: fn(&str) -> Vec<u8>,
    finding: Option<(&'static str, &'static str)>,
}

const MALFORMED: &str = "turn_journal_malformed_event";
const ILLEGAL: &str = "turn_journal_illegal_transition";

const ZOO: &[Beast] = &[
    Beast { name: "empty", bytes: |_| Vec::new(), finding: None },
    Beast { name: "blank", bytes: |_| b"\n \n\n".to_vec(), finding: None },
    Beast {
        name: "torn",
        bytes: |id| line(id, json!({}))[..40].to_vec(),
        finding: Some((MALFORMED, "warn")),
    },
    Beast {
        name: "binary",
        bytes: |_| (0..=255).cycle().take(4096).collect(),
        finding: Some((MALFORMED, "manual")),
    },
    Beast { name: "zeros", bytes: |_| vec![0; 512], finding: Some((MALFORMED, "warn")) },
    Beast {
        name: "time in words",
        bytes: |id| line(id, json!({ "created_at": "yesterday" })),
        finding: Some((MALFORMED, "manual")),
    },
    Beast {
        name: "unknown event",
        bytes: |id| line(id, json!({ "event": "danced" })),
        finding: Some((MALFORMED, "manual")),
    },
    Beast {
        name: "newer version",
        bytes: |id| line(id, json!({ "version": 99 })),
        finding: Some((MALFORMED, "manual")),
    },
    Beast {
        name: "somebody else's",
        bytes: |_| line("another", json!({})),
        finding: Some((MALFORMED, "manual")),
    },
    Beast {
        name: "end without a beginning",
        bytes: |id| line(id, json!({ "event": "completed" })),
        finding: Some((ILLEGAL, "manual")),
    },
    Beast {
        name: "a line of one megabyte",
        bytes: |_| [vec![b'x'; 1 << 20], b"\n".to_vec()].concat(),
        finding: Some((MALFORMED, "manual")),
    },
    Beast {
        name: "a line longer than any may be",
        bytes: |id| line(id, json!({ "content": "x".repeat(3 << 20) })),
        finding: Some((MALFORMED, "manual")),
    },
];

#[tokio::test]
async fn every_bad_file_is_told_about_and_hides_no_other() {
    let app = TestApp::start().await;
    let mut ids = Vec::new();
    for _ in ZOO {
        ids.push(app.new_session().await);
    }
    let good = app.new_session().await;
    let rest = AtRest::stop(app, &good).await;
    for (beast, id) in ZOO.iter().zip(&ids) {
        rest.plant(&format!("{id}.jsonl"), &(beast.bytes)(id));
    }
    rest.journal(&turn(&rest.session_id, "t1", LONG_AGO, &[submission("Still here.")]));
    let app = rest.start().await;
    assert_eq!(text_of(&messages(&app, &good).await[0]), "Still here.");
    let found = findings(&app).await;
    for (beast, id) in ZOO.iter().zip(&ids) {
        let about: Vec<_> = found.iter().filter(|it| it["session_id"] == **id).collect();
        let Some((kind, severity)) = beast.finding else {
            assert!(about.is_empty(), "{}: {about:?}", beast.name);
            continue;
        };
        assert!(!about.is_empty(), "{} is hidden", beast.name);
        for finding in about {
            assert_eq!(finding["kind"], kind, "{}: {finding}", beast.name);
            let last = finding["message"].as_str().unwrap().contains("the last");
            let severity = if last { "warn" } else { severity };
            assert_eq!(finding["severity"], severity, "{}: {finding}", beast.name);
            assert_eq!(finding["file"], format!("{id}.jsonl"));
            assert!(finding["line"].as_u64() >= Some(1), "{finding}");
        }
        let file = rest_file(&app, id);
        assert_eq!(fs::read(file).unwrap(), (beast.bytes)(id), "{} was changed", beast.name);
    }
    let sessions: Vec<_> = found.iter().map(|it| it["session_id"].as_str().unwrap()).collect();
    assert!(!sessions.contains(&good.as_str()), "{found:?}");
}

fn rest_file(app: &TestApp, id: &str) -> std::path::PathBuf {
    app.data.path().join("_turn_journal").join(format!("{id}.jsonl"))
}

#[tokio::test]
async fn files_of_no_conversation_are_told_about_and_left_alone() {
    let rest = AtRest::new().await;
    let orphan = line("gone", json!({}));
    rest.plant("gone.jsonl", &orphan);
    rest.plant("notes.txt", b"mine");
    fs::create_dir(rest.data.path().join("_turn_journal/folder.jsonl")).unwrap();
    let app = rest.start().await;
    let found = findings(&app).await;
    let kind_of = |file: &str| {
        let about: Vec<_> = found.iter().filter(|it| it["file"] == file).collect();
        assert_eq!(about.len(), 1, "{file}: {found:?}");
        about[0]["kind"].as_str().unwrap().to_owned()
    };
    assert_eq!(kind_of("gone.jsonl"), "turn_journal_orphan_file");
    assert_eq!(kind_of("notes.txt"), "turn_journal_orphan_file");
    assert_eq!(kind_of("folder.jsonl"), "turn_journal_unreadable_file");
    let folder = app.data.path().join("_turn_journal");
    assert_eq!(fs::read(folder.join("gone.jsonl")).unwrap(), orphan);
    assert_eq!(fs::read(folder.join("notes.txt")).unwrap(), b"mine");
}

#[tokio::test]
async fn good_lines_around_a_bad_one_keep_their_meaning() {
    let rest = AtRest::new().await;
    let ended = [&[submission("Ended.")], WHOLE.as_slice(), &[completed()]].concat();
    rest.journal(&turn(&rest.session_id, "t1", LONG_AGO, &ended[..2]));
    let before = fs::read(rest.journal_file()).unwrap();
    rest.plant(&format!("{}.jsonl", rest.session_id), &[&*before, b"{\"torn\": \n"].concat());
    rest.journal(&turn(&rest.session_id, "t1", LONG_AGO, &ended[2..]));
    rest.journal(&turn(&rest.session_id, "t2", LONG_AGO, &[submission("Pending.")]));
    let id = rest.session_id.to_string();
    let app = rest.start().await;
    let found = messages(&app, &id).await;
    assert_eq!(found.len(), 2, "only the second turn was pending: {found:?}");
    assert_eq!(text_of(&found[0]), "Pending.");
    let found = findings(&app).await;
    assert_eq!((found.len(), &found[0]["line"]), (1, &json!(3)), "{found:?}");
}

#[tokio::test]
async fn a_turn_from_beyond_all_calendars_is_restored_and_readable() {
    for at in [1e300, -1e300, 0.0] {
        let rest = AtRest::new().await;
        rest.journal(&turn(&rest.session_id, "t1", at, &[submission("When?")]));
        let id = rest.session_id.to_string();
        let app = rest.start().await;
        assert_eq!(text_of(&messages(&app, &id).await[0]), "When?", "{at}");
        assert_eq!(findings(&app).await, [] as [Value; 0], "{at}");
    }
}

#[tokio::test]
async fn a_conversation_that_is_gone_for_good_takes_its_journal_with_it() {
    let app = TestApp::start().await;
    let (deleted, purged) = (app.new_session().await, app.new_session().await);
    for id in [&deleted, &purged] {
        app.converse(id, &format!("turn-of-{id}"), "[[say Secret.]]").await;
        let address = format!("{}/api/sessions/{id}", app.base);
        assert!(app.client.delete(address).send().await.unwrap().status().is_success());
    }
    let rest = AtRest::stop(app, &purged).await;
    let mut connection = connect(rest.data.path()).await;
    let long_ago = "UPDATE sessions SET deleted_at = 1 WHERE session_id = $1";
    sqlx::query(long_ago).bind(&purged).execute(&mut connection).await.unwrap();
    sqlx::Connection::close(connection).await.unwrap();
    let app = rest.start().await;
    assert!(!rest_file(&app, &purged).exists(), "its words are still on the disk");
    assert!(rest_file(&app, &deleted).exists(), "it can still be brought back");
    assert_eq!(findings(&app).await, [] as [Value; 0]);
}
