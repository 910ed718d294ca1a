//! Command-line tools that run while a server uses the same data directory.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::SystemTime;

use reqwest::Client;
use serde_json::{Value, json};
use sqlx::{Connection, SqliteConnection, query};
use tempfile::TempDir;
use throughline::server::data::DataLock;

use crate::live_process::{BINARY, LiveProcess};
use crate::server::turn_crash::rows::{connect, dump};
use crate::test_app::TestSocket;

/// The tools that only look.
const READERS: [&[&str]; 5] = [
    &["audit"],
    &["audit", "--json"],
    &["repair"],
    &["leaves", "--include-forks"],
    &["export", "--all", "--format", "json"],
];

fn run(data: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(BINARY);
    command.args(arguments).arg("--data-dir").arg(data).stdin(Stdio::null());
    command.output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

type Files = BTreeMap<String, (Vec<u8>, SystemTime)>;

/// Reads every file with its time of change. SQLite's shared memory is left out: it holds the locks
/// of whoever reads, and nothing that is stored.
fn files_in(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if !path.ends_with("throughline.db-shm") {
                let changed = path.metadata().unwrap().modified().unwrap();
                files.insert(path.display().to_string(), (fs::read(&path).unwrap(), changed));
            }
        }
    }
    files
}

/// A server with one ended and one running turn.
async fn server_with_a_running_turn(data: &Path) -> (LiveProcess, String) {
    let server = LiveProcess::start(data).await;
    let client = Client::new();
    let new = client.post(format!("{}/api/sessions/new", server.base)).json(&json!({}));
    let session: Value = new.send().await.unwrap().json().await.unwrap();
    let id = session["session_id"].as_str().unwrap().to_owned();
    let mut socket = TestSocket::open(&server.base).await;
    socket.subscribe(&id, None).await;
    for (turn_id, content, until) in
        [("t1", "[[say done]]", "agent_end"), ("t2", "[[say Halfway.]][[hang]]", "message_delta")]
    {
        let turn = json!({ "turn_id": turn_id, "session_id": id, "content": content });
        client.post(format!("{}/api/chat/start", server.base)).json(&turn).send().await.unwrap();
        socket.until_event(until).await;
    }
    // The answer so far is saved within a second; nothing is written after that.
    let mut files = files_in(data);
    loop {
        tokio::time::sleep(std::time::Duration::from_millis(1500)).await;
        let later = files_in(data);
        if later == files {
            return (server, id);
        }
        files = later;
    }
}

#[tokio::test]
async fn tools_that_look_change_nothing_beside_a_running_server() {
    let data = TempDir::new().unwrap();
    let (_server, id) = server_with_a_running_turn(data.path()).await;
    // What an interrupted pruning or an earlier version leaves is not theirs to clear away.
    for name in ["gone.jsonl.part", "together.lines"] {
        fs::write(data.path().join("_turn_journal").join(name), b"").unwrap();
    }
    let before = files_in(data.path());
    for arguments in READERS {
        let output = run(data.path(), arguments);
        assert!(output.stderr.is_empty(), "{arguments:?}: {}", text(&output.stderr));
        let after = files_in(data.path());
        let changed: Vec<_> =
            after.keys().filter(|name| after.get(*name) != before.get(*name)).collect();
        assert!(after == before, "{arguments:?} changed {changed:?}");
    }
    let export = text(&run(data.path(), &["export", &id]).stdout);
    assert!(export.contains("done"), "{export}");
    // The pruned leftover is a finding; the running turn is none.
    let audit = text(&run(data.path(), &["audit"]).stdout);
    assert!(audit.contains("1 turns are running."), "{audit}");
    assert!(!audit.contains("never ended"), "{audit}");
    let repair = text(&run(data.path(), &["repair"]).stdout);
    assert_eq!(repair, "There is nothing to repair.\n");
}

/// A code has to reach the server somehow: it is one row, and all that is written.
#[tokio::test]
async fn pair_writes_its_code_and_nothing_else_beside_a_running_server() {
    let data = TempDir::new().unwrap();
    let (_server, _) = server_with_a_running_turn(data.path()).await;
    let of_journal = |files: Files| -> Files {
        files.into_iter().filter(|(name, _)| !name.contains("throughline.db")).collect()
    };
    let (files, rows) = (of_journal(files_in(data.path())), dump(data.path()).await);
    let migrations = applied_migrations(data.path()).await;
    let output = run(data.path(), &["pair"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("/pair?code="));
    assert!(of_journal(files_in(data.path())) == files, "a file changed");
    assert_eq!(dump(data.path()).await, rows);
    assert_eq!(applied_migrations(data.path()).await, migrations);
}

async fn applied_migrations(data: &Path) -> Vec<(i64, Vec<u8>)> {
    let mut connection = connect(data).await;
    let found = sqlx::query_as("SELECT version, checksum FROM _sqlx_migrations ORDER BY version");
    found.fetch_all(&mut connection).await.unwrap()
}

async fn change_schema(data: &Path, statement: &'static str) {
    let mut connection: SqliteConnection = connect(data).await;
    query(statement).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn tools_refuse_the_schema_of_another_version_in_words_and_leave_it_alone() {
    let versions = [
        (
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, \
             execution_time) VALUES (9999, 'from the future', 1, x'00', 0)",
            "newer Throughline",
        ),
        (
            "DELETE FROM _sqlx_migrations WHERE version IN ( \
             SELECT MAX(version) FROM _sqlx_migrations)",
            "older Throughline; start the server once",
        ),
    ];
    for (statement, expected) in versions {
        let rest = crate::at_rest::AtRest::new().await;
        let data = rest.data.path();
        change_schema(data, statement).await;
        let before = files_in(data);
        for arguments in READERS.iter().chain(&[["pair", "--url", "http://x"].as_slice()]) {
            let output = run(data, arguments);
            assert!(!output.status.success(), "{arguments:?}");
            let message = text(&output.stderr);
            assert!(message.contains(expected), "{arguments:?}: {message}");
            assert!(files_in(data) == before, "{arguments:?} changed something");
        }
    }
}

#[tokio::test]
async fn tools_that_look_leave_no_file_behind_where_no_server_runs() {
    let rest = crate::at_rest::AtRest::new().await;
    let before = files_in(rest.data.path());
    for arguments in READERS {
        assert!(run(rest.data.path(), arguments).status.success(), "{arguments:?}");
        let after = files_in(rest.data.path());
        let names: Vec<_> = after.keys().filter(|name| !before.contains_key(*name)).collect();
        assert!(after == before, "{arguments:?} left {names:?}");
    }
}

#[test]
fn a_process_that_is_being_started_does_not_keep_the_lock() {
    let data = TempDir::new().unwrap();
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                assert!(Command::new("true").status().unwrap().success());
            }
        });
        let taken = (0..20_000).try_for_each(|_| DataLock::take(data.path()).map(drop));
        is_over.store(true, Ordering::Relaxed);
        taken.unwrap();
    });
}
