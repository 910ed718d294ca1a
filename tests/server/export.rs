//! `throughline leaves` and `throughline export`, as a person runs them.

use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::live_process::BINARY;
use crate::plant;
use crate::test_app::TestApp;

fn run(data: &TempDir, arguments: &[&str]) -> Output {
    let mut command = Command::new(BINARY);
    command.args(arguments).arg("--data-dir").arg(data.path()).stdin(Stdio::null());
    command.output().unwrap()
}

fn words(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[tokio::test]
async fn leaves_are_those_of_the_other_doors() {
    let app = plant::app("a b/a c*/a d<c e-").await;
    for (option, query) in [(None, "false"), (Some("--include-forks"), "true")] {
        let arguments: Vec<_> = ["leaves", "--json"].into_iter().chain(option).collect();
        let output = run(&app.data, &arguments);
        assert!(output.status.success(), "{}", words(&output.stderr));
        let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
        let address = format!("/api/sessions?view=leaves&include_forks={query}");
        assert_eq!(printed["sessions"], app.get_json(&address).await["sessions"]);
    }
    let plain = words(&run(&app.data, &["leaves"]).stdout);
    assert_eq!(plain, "d  1970-01-01T00:00:04.000Z  Row d\nb  1970-01-01T00:00:02.000Z  Row b\n");
    let empty = plant::planted("").await;
    assert_eq!(words(&run(&empty, &["leaves", "--json"]).stdout), "{\"sessions\":[]}\n");
}

/// A conversation of two parts with a file, a tool and a stopped answer.
async fn conversation() -> (TestApp, String, String) {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let bytes = app.client.post(format!("{}/api/blobs", app.base)).body("a,b\n1,2\n");
    let blob: Value = bytes.send().await.unwrap().json().await.unwrap();
    let turn = json!({
        "turn_id": "t1", "session_id": id, "content": "What is in `here`?",
        "attachments": [{ "blob": blob["blob"], "name": "table.csv", "media_type": "text/csv", "size": 8 }],
    });
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    assert_eq!(app.post("/api/chat/start", &turn).await.status(), 202);
    socket.until_event("agent_end").await;
    app.converse(&id, "t2", "[[tool read notes.txt]][[say Milk.]]").await;
    let old = app.converse(&id, "t3", "[[compress]]").await;
    let tip = old["continuation"].as_str().unwrap().to_owned();
    app.converse(&tip, "t4", "[[say The end.]]").await;
    (app, id, tip)
}

#[tokio::test]
async fn a_whole_conversation_is_exported_in_order_by_any_of_its_parts() {
    let (app, id, tip) = conversation().await;
    let json_of = |id: &str| run(&app.data, &["export", id, "--format", "json"]).stdout;
    let exported: Value = serde_json::from_slice(&json_of(&id)).unwrap();
    assert_eq!(json_of(&id), json_of(&tip), "whichever part is named");
    assert_eq!(exported["version"], 1);
    let parts = exported["conversations"][0]["parts"].as_array().unwrap();
    let rows: Vec<_> = parts.iter().map(|part| part["session"]["session_id"].clone()).collect();
    assert_eq!(rows, [json!(id), json!(tip)]);
    let turns: Vec<_> = parts
        .iter()
        .flat_map(|part| part["messages"].as_array().unwrap())
        .filter(|message| message["role"] == "user")
        .map(|message| message["turn_id"].as_str().unwrap())
        .collect();
    assert_eq!(turns, ["t1", "t2", "t3", "t4"]);
    let files = &exported["conversations"][0]["attachments"];
    assert_eq!(files[0]["name"], "table.csv");

    let text = words(&run(&app.data, &["export", &id]).stdout);
    let places: Vec<_> = [
        "# ",
        "## Part 1",
        "File: `table.csv`",
        "notes.txt",
        "Milk.",
        "## Part 2",
        "The end.",
        "## Files",
    ]
    .iter()
    .map(|piece| text.find(piece).unwrap_or_else(|| panic!("{piece} in {text}")))
    .collect();
    assert!(places.is_sorted(), "{places:?} in {text}");
    assert!(text.contains("remember the milk"), "what a tool said is in it: {text}");
}

#[tokio::test]
async fn all_conversations_are_exported_into_a_file() {
    let (app, ..) = conversation().await;
    let other = app.new_session().await;
    app.converse(&other, "x1", "[[say Elsewhere.]]").await;
    let gone = app.new_session().await;
    app.converse(&gone, "x2", "[[say Gone.]]").await;
    app.client.delete(format!("{}/api/sessions/{gone}", app.base)).send().await.unwrap();
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("all.json");
    let file_name = file.to_str().unwrap();
    let output = run(&app.data, &["export", "--all", "--format", "json", "--output", file_name]);
    assert!(output.status.success(), "{}", words(&output.stderr));
    assert!(output.stdout.is_empty());
    let exported: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(exported["conversations"].as_array().unwrap().len(), 2);
    assert!(!exported.to_string().contains("Gone."));
    let text = words(&run(&app.data, &["export", "--all", "--format", "markdown"]).stdout);
    assert!(text.contains("The end.") && text.contains("Elsewhere."));
    let empty = plant::planted("").await;
    let none: Value =
        serde_json::from_slice(&run(&empty, &["export", "--all", "--format", "json"]).stdout)
            .unwrap();
    assert_eq!(none["conversations"], json!([]));
}

#[tokio::test]
async fn what_is_not_there_is_not_exported_and_no_file_is_left() {
    let data = plant::planted("a").await;
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("none.md");
    for id in ["gone", "not an id"] {
        let output = run(&data, &["export", id, "--output", file.to_str().unwrap()]);
        assert!(!output.status.success(), "{id}");
        assert!(!file.exists(), "{id}");
    }
    assert_eq!(run(&data, &["export"]).status.code(), Some(2));
    assert_eq!(run(&data, &["export", "a", "--all"]).status.code(), Some(2));
}
