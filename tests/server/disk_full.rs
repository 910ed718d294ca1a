//! The real binary on a disk of its own that is full, read-only, or somebody else's.
//!
//! `THROUGHLINE_SKIP_TMPFS=1` passes over the tests that mount a small disk.

mod small_disk;

use std::fs;

use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

use crate::at_rest::steps_in;
use crate::live_process::{BINARY, LiveProcess};
use small_disk::SmallDisk;

/// A person's words that do not fit into what is left of a page of the disk.
fn long_words(turn_id: &str) -> String {
    format!("[[say {turn_id}]] {}", "x".repeat(10_000))
}

struct Guest<'a> {
    base: &'a str,
    client: Client,
}

impl<'a> Guest<'a> {
    fn new(base: &'a str) -> Self {
        Self { base, client: Client::new() }
    }

    async fn post(&self, path: &str, body: &Value) -> Response {
        self.client.post(format!("{}{path}", self.base)).json(body).send().await.unwrap()
    }

    async fn get(&self, path: &str) -> Value {
        let response = self.client.get(format!("{}{path}", self.base)).send().await.unwrap();
        response.json().await.unwrap()
    }

    async fn new_session(&self) -> String {
        let session: Value = self.post("/api/sessions/new", &json!({})).await.json().await.unwrap();
        session["session_id"].as_str().unwrap().to_owned()
    }

    async fn submit(&self, id: &str, turn_id: &str) -> Response {
        let content = long_words(turn_id);
        let turn = json!({ "turn_id": turn_id, "session_id": id, "content": content });
        self.post("/api/chat/start", &turn).await
    }

    /// Submits a turn that is to be taken, and waits for its end.
    async fn converse(&self, id: &str, turn_id: &str) {
        let response = self.submit(id, turn_id).await;
        assert_eq!(response.status(), StatusCode::ACCEPTED, "{}", response.text().await.unwrap());
        let patience = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while self.get("/api/session/recovery/audit").await["under_way"] != 0 {
            assert!(std::time::Instant::now() < patience, "{turn_id} does not end");
        }
    }

    /// Counts the messages of a turn: what was sent, and whole answers.
    async fn count(&self, id: &str, turn_id: &str) -> (usize, usize) {
        let transcript = self.get(&format!("/api/sessions/{id}?limit=200")).await;
        let messages = transcript["messages"].as_array().unwrap();
        let of = |role: &str| {
            let found = messages.iter().filter(|it| it["turn_id"] == turn_id && it["role"] == role);
            found.filter(|it| it["state"] == "complete").count()
        };
        (of("user"), of("assistant"))
    }

    async fn add_blob(&self, size: usize) -> Response {
        let address = format!("{}/api/blobs", self.base);
        self.client.post(address).body(vec![b'x'; size]).send().await.unwrap()
    }
}

/// Expects a refusal with this status and code, and a sentence for a person.
async fn expect_refusal(response: Response, status: StatusCode, code: &str) {
    let found = response.status();
    let body: Value = response.json().await.unwrap();
    assert_eq!((found, &body["error"]["code"]), (status, &json!(code)), "{body}");
    let words = body["error"]["message"].as_str().unwrap();
    assert!(words.contains("disk") && words.contains("Nothing was stored"), "{words}");
}

#[tokio::test]
async fn a_full_disk_refuses_in_words_and_takes_the_same_turn_once_there_is_room() {
    let Some(disk) = SmallDisk::mount("4m").await else { return };
    let guest = Guest::new(&disk.server.base);
    let (fresh, used) = (guest.new_session().await, guest.new_session().await);
    guest.converse(&used, "before").await;
    disk.fill();
    for _ in 0..2 {
        for (id, turn_id) in [(&fresh, "first"), (&used, "second")] {
            let refused = guest.submit(id, turn_id).await;
            expect_refusal(refused, StatusCode::INSUFFICIENT_STORAGE, "disk_full").await;
            assert_eq!(guest.count(id, turn_id).await, (0, 0));
        }
    }
    let refused = guest.add_blob(100_000).await;
    expect_refusal(refused, StatusCode::INSUFFICIENT_STORAGE, "disk_full").await;
    let blobs = fs::read_dir(disk.data().join("blobs")).unwrap().count();
    assert_eq!(blobs, 0, "half a file is left");
    assert_eq!(guest.count(&used, "before").await, (1, 1), "what was there is still there");
    for id in [&fresh, &used] {
        let file = disk.data().join(format!("_turn_journal/{id}.jsonl"));
        // Panics where a line is not whole.
        let steps = steps_in(&fs::read(file).unwrap_or_default());
        assert!(steps.len() <= 4, "{steps:?}");
    }

    disk.free();
    guest.converse(&fresh, "first").await;
    guest.converse(&used, "second").await;
    assert_eq!(guest.add_blob(100_000).await.status(), StatusCode::CREATED);
    for (id, turn_id) in [(&fresh, "first"), (&used, "before"), (&used, "second")] {
        assert_eq!(guest.count(id, turn_id).await, (1, 1), "{turn_id}");
    }
    assert_eq!(guest.get("/api/session/recovery/audit").await["findings"], json!([]));
}

#[tokio::test]
async fn turns_taken_until_the_disk_is_full_outlive_a_kill() {
    let Some(disk) = SmallDisk::mount("12m").await else { return };
    let guest = Guest::new(&disk.server.base);
    let id = guest.new_session().await;
    disk.fill_but(4_000_000);
    let mut taken = Vec::new();
    for number in 0..200 {
        let turn_id = format!("t{number}");
        match guest.submit(&id, &turn_id).await.status() {
            StatusCode::ACCEPTED => taken.push(turn_id),
            StatusCode::INSUFFICIENT_STORAGE => break,
            other => panic!("{turn_id}: {other}"),
        }
    }
    assert!(!taken.is_empty() && taken.len() < 200, "{} turns", taken.len());
    disk.free();
    let disk = disk.kill_and_restart().await;
    let guest = Guest::new(&disk.server.base);
    for turn_id in &taken {
        assert_eq!(guest.count(&id, turn_id).await.0, 1, "{turn_id} of {}", taken.len());
    }
    println!("{} turns taken until the disk was full, 0 lost", taken.len());
}

#[tokio::test]
async fn a_disk_that_turns_read_only_refuses_in_words_until_it_can_be_written_to() {
    let Some(disk) = SmallDisk::mount("8m").await else { return };
    let guest = Guest::new(&disk.server.base);
    let id = guest.new_session().await;
    disk.make_read_only();
    let refused = guest.submit(&id, "t1").await;
    expect_refusal(refused, StatusCode::SERVICE_UNAVAILABLE, "disk_failed").await;
    let refused = guest.add_blob(1000).await;
    expect_refusal(refused, StatusCode::SERVICE_UNAVAILABLE, "disk_failed").await;
    assert_eq!(guest.count(&id, "t1").await, (0, 0));
    disk.make_writable();
    guest.converse(&id, "t1").await;
    assert_eq!(guest.count(&id, "t1").await, (1, 1));
    assert_eq!(guest.get("/api/session/recovery/audit").await["findings"], json!([]));
}

#[tokio::test]
async fn a_start_on_a_read_only_data_directory_says_so() {
    let Some(words) = small_disk::start_on_read_only().await else { return };
    assert!(words.contains("cannot be used") && words.contains("Read-only"), "{words}");
    assert!(!words.contains("panicked"), "{words}");
}

#[tokio::test]
async fn a_second_server_on_the_same_data_leaves_the_first_alone() {
    let data = TempDir::new().unwrap();
    let first = LiveProcess::start(data.path()).await;
    let guest = Guest::new(&first.base);
    let id = guest.new_session().await;
    guest.converse(&id, "t1").await;
    let before = fs::read(data.path().join(format!("_turn_journal/{id}.jsonl"))).unwrap();
    let second = LiveProcess::served(&mut Command::new(BINARY), data.path()).output();
    let second = second.await.unwrap();
    assert!(!second.status.success());
    let words = String::from_utf8(second.stderr).unwrap();
    assert!(words.contains("another Throughline uses"), "{words}");
    assert!(words.contains(data.path().to_str().unwrap()), "{words}");
    assert_eq!(fs::read(data.path().join(format!("_turn_journal/{id}.jsonl"))).unwrap(), before);
    guest.converse(&id, "t2").await;
    assert_eq!(guest.count(&id, "t2").await, (1, 1));
    first.kill().await;
    LiveProcess::start(data.path()).await;
}

/// A full disk makes SQLite roll back by itself; no kind of write may be out of order after that.
#[tokio::test]
async fn every_kind_of_write_works_again_as_soon_as_there_is_room() {
    let Some(disk) = SmallDisk::mount("4m").await else { return };
    let guest = Guest::new(&disk.server.base);
    let id = guest.new_session().await;
    guest.converse(&id, "before").await;
    disk.fill();
    let rename = json!({ "title": "x".repeat(200) });
    let patch = async |body: &Value| {
        let address = format!("{}/api/sessions/{id}", guest.base);
        guest.client.patch(address).json(body).send().await.unwrap()
    };
    for round in 0..3 {
        for response in [
            guest.submit(&id, &format!("full-{round}")).await,
            guest.post("/api/sessions/new", &json!({})).await,
            guest.post(&format!("/api/sessions/{id}/fork"), &json!({})).await,
            patch(&rename).await,
        ] {
            assert!(!response.status().is_success(), "{}", response.status());
            let body: Value = response.json().await.unwrap();
            assert_eq!(body["error"]["code"], "disk_full", "{body}");
        }
    }
    disk.free();
    for round in 0..3 {
        guest.converse(&id, &format!("full-{round}")).await;
        assert_eq!(guest.count(&id, &format!("full-{round}")).await, (1, 1));
    }
    let fork = guest.post(&format!("/api/sessions/{id}/fork"), &json!({})).await;
    assert!(fork.status().is_success(), "{}", fork.status());
    assert!(patch(&rename).await.status().is_success());
    guest.new_session().await;
    assert_eq!(guest.get("/api/session/recovery/audit").await["findings"], json!([]));
}
