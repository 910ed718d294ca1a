//! Conversations that agents remember, brought in through a real server. `UPDATE=1` writes down what
//! comes of the recorded ones now.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use throughline::server::config::AgentEntry;

use crate::agents::common::words;
use crate::agents::talk::is_as_before;
use crate::fake_agent;
use crate::live_process::BINARY;
use crate::test_app::TestApp;

fn fixtures(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(folder)
}

async fn start(workspace: TempDir, entry: AgentEntry) -> TestApp {
    TestApp::start_changed(TempDir::new().unwrap(), workspace, |config| {
        config.agents.entries = vec![entry];
    })
    .await
}

/// Copies a recording as if it had been made in another folder.
fn moved(record: &Path, from: &str, to: &Path, copy: &Path) {
    let text = std::fs::read_to_string(record).unwrap();
    std::fs::write(copy, text.replace(from, to.to_str().unwrap())).unwrap();
}

/// Lets a recorded agent list its conversations twice: once for a person, and once to make sure.
fn listing_twice(record: &Path) {
    let text = std::fs::read_to_string(record).unwrap();
    let mut entries: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let asked = entries.iter().position(|it| it["msg"]["method"] == "session/list").unwrap();
    let id = entries[asked]["msg"]["id"].clone();
    let replied = |it: &Value| it["msg"]["id"] == id && it["msg"]["result"].is_object();
    let reply = entries.iter().position(replied).unwrap();
    let mut again = [entries[asked].clone(), entries[reply].clone()];
    for entry in &mut again {
        entry["msg"]["id"] = json!("again");
    }
    entries.splice(reply + 1..=reply, again);
    let lines: Vec<_> = entries.iter().map(Value::to_string).collect();
    std::fs::write(record, lines.join("\n")).unwrap();
}

async fn import(app: &TestApp, agent: &str, agent_session: &str) -> String {
    let request = json!({ "agent": agent, "agent_session": agent_session });
    let response = app.post("/api/import", &request).await;
    assert_eq!(response.status(), StatusCode::OK, "{:?}", response.text().await);
    let row: Value = response.json().await.unwrap();
    row["session_id"].as_str().unwrap().to_owned()
}

/// Writes a transcript as lines that are the same each time.
fn story(transcript: &Value) -> String {
    let mut story = format!("title: {}\n", transcript["session"]["title"].as_str().unwrap());
    for message in transcript["messages"].as_array().unwrap() {
        let word = |key: &str| message[key].as_str().unwrap().to_owned();
        story.push_str(&format!("\n{} ({})\n", word("role"), word("state")));
        for part in message["parts"].as_array().unwrap() {
            let mut part = part.clone();
            for key in ["started_at", "ended_at", "tool_id"] {
                part.as_object_mut().unwrap().remove(key);
            }
            let line: String = part.to_string().chars().take(400).collect();
            story.push_str(&format!("  {line}\n"));
        }
    }
    story
}

/// The name of the conversation that the recorded client had told anew.
fn loaded(record: &Path) -> String {
    let text = std::fs::read_to_string(record).unwrap();
    let entries = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut loads = entries.filter(|entry| entry["msg"]["method"] == "session/load");
    loads.next().unwrap()["msg"]["params"]["sessionId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn what_agents_remember_is_listed_and_brought_in_once() {
    for agent in ["claude", "codex", "goose", "opencode"] {
        let record = fixtures("acp").join(format!("{agent}-full.jsonl"));
        let (workspace, copies) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let copy = copies.path().join("record.jsonl");
        let folder = workspace.path().canonicalize().unwrap();
        moved(&record, &format!("/workspace/{agent}"), &folder, &copy);
        listing_twice(&copy);
        let app = start(workspace, fake_agent::entry(fake_agent::replaying(&copy))).await;
        let wanted = loaded(&record);
        let listed = app.get_json("/api/agents/fake/conversations").await;
        let listed = listed.as_array().unwrap();
        assert!(listed.len() >= 2, "{agent}: {listed:?}");
        let times: Vec<_> = listed.iter().map(|it| it["updated_at"].as_str().unwrap()).collect();
        assert!(times.is_sorted_by(|a, b| a >= b), "{agent}: {times:?}");
        let found = listed.iter().find(|it| it["agent_session"] == wanted.as_str()).unwrap();
        assert_eq!(found["session_id"], Value::Null);

        let id = import(&app, "fake", &wanted).await;
        let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
        let told = story(&transcript).replace(folder.to_str().unwrap(), "/workspace");
        assert!(is_as_before(&record, "imported", &told), "{agent}:\n{told}");
        assert_eq!(transcript["session"]["last_activity_at"], found["updated_at"]);
        assert_eq!(transcript["session"]["agent"], "fake");
        let facts = app.get_json(&format!("/api/sessions/{id}/agent")).await;
        assert_eq!(facts["agent_session"], wanted.as_str());

        assert_eq!(import(&app, "fake", &wanted).await, id, "{agent}: once");
        let rows = app.get_json("/api/sessions").await;
        assert_eq!(rows["sessions"].as_array().unwrap().len(), 1, "{agent}");
        app.stop().await;
    }
}

/// A pi whose files are in a folder of the test.
struct PiHome {
    app: TestApp,
    _home: TempDir,
}

impl PiHome {
    async fn with(records: &[&str]) -> (Self, Vec<String>) {
        let (workspace, home) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        let folder = workspace.path().canonicalize().unwrap();
        let name = folder.to_str().unwrap().trim_start_matches('/').replace('/', "-");
        let place = home.path().join("sessions").join(format!("--{name}--"));
        std::fs::create_dir_all(&place).unwrap();
        let mut files = Vec::new();
        for record in records {
            let from = fixtures("pi/sessions").join(format!("{record}.jsonl"));
            let copy = place.join(format!("{record}.jsonl"));
            let header: Value = serde_json::from_str(
                std::fs::read_to_string(&from).unwrap().lines().next().unwrap(),
            )
            .unwrap();
            moved(&from, header["cwd"].as_str().unwrap(), &folder, &copy);
            files.push(copy.to_str().unwrap().to_owned());
        }
        std::fs::write(place.join("noise.jsonl"), "no conversation\n").unwrap();
        std::fs::write(place.join("empty.jsonl"), "").unwrap();
        let mut settings = fake_agent::pi();
        let home_path = home.path().to_str().unwrap().to_owned();
        settings.environment.insert("PI_CODING_AGENT_DIR".to_owned(), home_path);
        let app = start(workspace, fake_agent::pi_entry(settings)).await;
        (Self { app, _home: home }, files)
    }
}

const PI_RECORDS: [&str; 5] = [
    "s05_tool_two_and_chain",
    "s07_abort_text",
    "s11_compaction_manual",
    "s20_first_version",
    "s23_image",
];

#[tokio::test]
async fn the_files_of_pi_are_read_and_left_as_they_are() {
    let (PiHome { app, _home }, files) = PiHome::with(&PI_RECORDS).await;
    let listed = app.get_json("/api/agents/pi/conversations").await;
    assert_eq!(listed.as_array().unwrap().len(), PI_RECORDS.len(), "{listed}");
    for (record, file) in PI_RECORDS.iter().zip(&files) {
        let before = std::fs::read(file).unwrap();
        let id = import(&app, "pi", file).await;
        let told = story(&app.get_json(&format!("/api/sessions/{id}")).await);
        let record = fixtures("pi/sessions").join(format!("{record}.jsonl"));
        assert!(is_as_before(&record, "imported", &told), "{}:\n{told}", record.display());
        assert_eq!(std::fs::read(file).unwrap(), before);
    }
}

#[tokio::test]
async fn a_person_brings_in_what_pi_remembers_by_the_command_line() {
    let (PiHome { app, _home }, files) = PiHome::with(&PI_RECORDS).await;
    let home = _home.path().display().to_string();
    let (data, workspace) = app.stop().await;
    let config = data.path().join("agents.toml");
    let environment = format!("environment = {{ PI_CODING_AGENT_DIR = \"{home}\" }}");
    std::fs::write(&config, format!("[agents.pi]\ncommand = \"/bin/sh\"\n{environment}\n"))
        .unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(BINARY);
        command.args(["import", "pi", "--folder"]).arg(workspace.path());
        command.arg("--data-dir").arg(data.path()).arg("--config").arg(&config).args(arguments);
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.success(), text(output.stdout), text(output.stderr))
    };
    let (done, listed, why) = run(&[]);
    assert!(done, "{why}");
    assert_eq!(listed.lines().count(), PI_RECORDS.len(), "{listed}");
    assert!(listed.contains(&files[1]) && listed.contains("Long [[slow]]"), "{listed}");
    let (done, brought, why) = run(&[&files[1]]);
    assert!(done, "{why}");
    assert!(brought.ends_with("Long [[slow]]\n"), "{brought}");
    assert_eq!(run(&[]).1.matches("(here already)").count(), 1);
    assert!(run(&["--all"]).0);
    assert_eq!(run(&[]).1.matches("(here already)").count(), PI_RECORDS.len());
    let (done, _, why) = run(&["/etc/passwd"]);
    assert!(!done && why.contains("does not remember"), "{why}");
}

#[tokio::test]
async fn the_next_prompt_goes_on_where_an_imported_conversation_ended() {
    let (PiHome { app, _home }, files) = PiHome::with(&["s07_abort_text"]).await;
    let id = import(&app, "pi", &files[0]).await;
    let before = app.get_json(&format!("/api/sessions/{id}")).await;
    assert_eq!(words(&app, &id, "t1", "say and on it goes").await, "and on it goes");
    let after = app.get_json(&format!("/api/sessions/{id}")).await;
    let count = |it: &Value| it["messages"].as_array().unwrap().len();
    assert_eq!(count(&after), count(&before) + 2);
    let started = app.get_json(&format!("/api/sessions/{id}/agent/messages")).await;
    assert!(!started.as_array().unwrap().is_empty());
    let facts = app.get_json(&format!("/api/sessions/{id}/agent")).await;
    assert_eq!(facts["agent_session"], files[0].as_str(), "it is the same file");
}

#[tokio::test]
async fn what_was_brought_in_and_deleted_can_be_brought_in_again() {
    let (PiHome { app, _home }, files) = PiHome::with(&["s07_abort_text"]).await;
    let first = import(&app, "pi", &files[0]).await;
    let client = reqwest::Client::new();
    let deleted = client.delete(format!("{}/api/sessions/{first}", app.base)).send().await;
    assert!(deleted.unwrap().status().is_success());
    let second = import(&app, "pi", &files[0]).await;
    assert_ne!(first, second);
}

#[tokio::test]
async fn what_cannot_be_brought_in_is_refused_in_plain_words() {
    let (PiHome { app, _home }, files) = PiHome::with(&["s07_abort_text"]).await;
    let refused = async |request: Value| {
        let response = app.post("/api/import", &request).await;
        let status = response.status();
        let told: Value = response.json().await.unwrap();
        (status, told["error"]["message"].as_str().unwrap_or_default().to_owned())
    };
    for outside in ["/etc/passwd", "../s07_abort_text.jsonl", "", &format!("{}x", files[0])] {
        let (status, why) = refused(json!({ "agent": "pi", "agent_session": outside })).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{outside}");
        assert!(why.contains("does not remember"), "{why}");
    }
    let (status, why) = refused(json!({ "agent": "demo", "agent_session": "x" })).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(why.contains("keeps no conversations"), "{why}");
    let (status, _) = refused(json!({ "agent": "nobody", "agent_session": "x" })).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let outside = json!({ "agent": "pi", "agent_session": "x", "workspace": "/etc" });
    let (status, why) = refused(outside).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(why.contains("outside the allowed folders"), "{why}");
}
