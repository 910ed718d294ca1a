//! The stream of what happens to sessions, and what an open list is told.

use std::time::Duration;

use reqwest::{Response, StatusCode};
use serde_json::{Value, json};
use throughline::domain::ids::SessionId;
use throughline::server::sessions::{Chronicle, Happened};
use tokio::sync::broadcast::error::TryRecvError;

use crate::test_app::TestApp;

const PATIENCE: Duration = Duration::from_secs(20);

struct Events {
    response: Response,
    read: String,
}

struct Told {
    name: String,
    id: String,
    data: Value,
}

impl Events {
    async fn open(app: &TestApp, last: Option<&str>) -> Self {
        let mut request = app.client.get(format!("{}/api/events", app.base));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { response, read: String::new() }
    }

    /// Reads the next event; `None` when the stream has ended.
    async fn next(&mut self) -> Option<Told> {
        loop {
            if let Some((event, rest)) = self.read.split_once("\n\n") {
                let field = |name: &str| {
                    let mut lines = event.lines();
                    lines.find_map(|line| line.strip_prefix(name)).map(|it| it.trim().to_owned())
                };
                let told = field("event:").map(|name| Told {
                    name,
                    id: field("id:").unwrap(),
                    data: serde_json::from_str(&field("data:").unwrap()).unwrap(),
                });
                self.read = rest.to_owned();
                if told.is_some() {
                    return told;
                }
                continue;
            }
            let chunk = tokio::time::timeout(PATIENCE, self.response.chunk()).await.unwrap();
            self.read.push_str(std::str::from_utf8(&chunk.ok()??).unwrap());
        }
    }

    /// Reads until an event of the given name.
    async fn until(&mut self, name: &str) -> Told {
        loop {
            let told = self.next().await.expect("the stream should be open");
            if told.name == name {
                return told;
            }
        }
    }
}

async fn fork_of(app: &TestApp, id: &str) -> String {
    let response = app.post(&format!("/api/sessions/{id}/fork"), &json!({})).await;
    let row: Value = response.json().await.unwrap();
    row["session_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn everything_that_happens_to_a_session_is_told_with_its_row() {
    let app = TestApp::start().await;
    let mut events = Events::open(&app, None).await;
    events.until("ready").await;
    let id = app.new_session().await;
    let told = events.next().await.unwrap();
    assert_eq!((told.name.as_str(), &told.data["session_id"]), ("created", &json!(id)));

    app.converse(&id, "t1", "[[say hello]]").await;
    let told = events.until("completed").await;
    assert_eq!((&told.data["session_id"], &told.data["message_count"]), (&json!(id), &json!(2)));

    let fork = fork_of(&app, &id).await;
    let told = events.until("forked").await;
    assert_eq!(
        (&told.data["session_id"], &told.data["parent_session_id"]),
        (&json!(fork), &json!(id))
    );
    let parent = events.until("changed").await;
    assert_eq!((&parent.data["session_id"], &parent.data["child_count"]), (&json!(id), &json!(1)));

    let old = app.converse(&fork, "t2", "[[compress]]").await;
    let told = events.until("compressed").await;
    assert_eq!(told.data["session_id"], old["continuation"]);
    assert_eq!(told.data["parent_session_id"], json!(fork));

    let address = format!("{}/api/sessions/{id}", app.base);
    app.client.delete(&address).send().await.unwrap();
    assert_eq!(events.until("removed").await.data, json!({ "session_id": id }));
}

#[tokio::test]
async fn a_reader_that_comes_back_gets_what_it_missed_once() {
    let app = TestApp::start().await;
    let mut events = Events::open(&app, None).await;
    let ready = events.until("ready").await;
    drop(events);
    let (first, second) = (app.new_session().await, app.new_session().await);
    app.client.delete(format!("{}/api/sessions/{first}", app.base)).send().await.unwrap();
    let mut events = Events::open(&app, Some(&ready.id)).await;
    let mut told = Vec::new();
    for _ in 0..3 {
        told.push(events.next().await.unwrap());
    }
    let names: Vec<_> = told.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["removed", "created", "removed"], "each with its row as it is now");
    assert_eq!(told[1].data["session_id"], json!(second));
    drop(events);
    let mut events = Events::open(&app, Some(&told[1].id)).await;
    let again = events.next().await.unwrap();
    assert_eq!((again.name.as_str(), &again.id), ("removed", &told[2].id));
}

#[tokio::test]
async fn a_reader_from_another_life_of_the_server_is_told_to_begin_anew() {
    let app = TestApp::start().await;
    app.new_session().await;
    for last in ["another-7", "nonsense", ""] {
        let mut events = Events::open(&app, Some(last)).await;
        assert_eq!(events.next().await.unwrap().name, "reset", "{last:?}");
    }
    let mut events = Events::open(&app, None).await;
    let ready = events.until("ready").await;
    let app = app.restart().await;
    assert!(events.next().await.is_none(), "the stream ends with the server");
    let mut events = Events::open(&app, Some(&ready.id)).await;
    assert_eq!(events.next().await.unwrap().name, "reset");
}

#[tokio::test]
async fn an_open_list_learns_that_a_parent_has_a_child_without_asking() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "[[say hello]]").await;
    let mut list = app.socket().await;
    let mut child_count_of = async |wanted: &str, expected: u64| loop {
        let frame = list.until("sessions_changed").await;
        let rows = frame["changed"].as_array().unwrap().clone();
        let row = rows.into_iter().find(|row| row["session_id"] == wanted);
        if let Some(row) = row.filter(|row| row["child_count"] == expected) {
            break row;
        }
    };
    let fork = fork_of(&app, &id).await;
    child_count_of(&id, 1).await;
    let address = format!("{}/api/sessions/{fork}", app.base);
    app.client.patch(&address).json(&json!({ "archived": true })).send().await.unwrap();
    child_count_of(&id, 0).await;
    app.client.patch(&address).json(&json!({ "archived": false })).send().await.unwrap();
    child_count_of(&id, 1).await;
    app.client.delete(&address).send().await.unwrap();
    child_count_of(&id, 0).await;
    app.submit(&id, "t2", "[[compress]]").await;
    let snapshot = child_count_of(&id, 1).await;
    assert_eq!(snapshot["pre_compression_snapshot"], true);
}

#[test]
fn what_is_kept_for_readers_is_bounded_and_a_slow_one_is_told() {
    let chronicle = Chronicle::default();
    let id = SessionId::parse("a").unwrap();
    let mut slow = chronicle.read(None);
    for _ in 0..1024 {
        chronicle.record(Happened::Changed, &id, None);
    }
    let numbers = |after: u64| {
        let missed = chronicle.read(Some(after)).missed?;
        Some(missed.iter().map(|entry| entry.number).collect::<Vec<_>>())
    };
    assert_eq!(numbers(0), Some((1..=1024).collect()));
    assert_eq!(numbers(1022), Some(vec![1023, 1024]));
    assert_eq!(numbers(1024), Some(vec![]));
    assert_eq!(numbers(1025), None, "what never was is not made up");
    chronicle.record(Happened::Changed, &id, None);
    assert_eq!(numbers(0), None);
    assert_eq!(numbers(1).unwrap().len(), 1024);
    let lagged = slow.following.try_recv().unwrap_err();
    assert!(matches!(lagged, TryRecvError::Lagged(_)), "{lagged:?}");
}
