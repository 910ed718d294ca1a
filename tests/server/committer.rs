//! What the committer decides between the check of a turn and its transaction.

use std::sync::Arc;

use reqwest::StatusCode;
use serde_json::{Value, json};
use sqlx::{Connection, query};
use throughline::domain::message::MessageState;
use throughline::server::store::{NewPrompt, PromptInsert, Store};

use crate::at_rest::{AtRest, answer, prompt};
use crate::crash_storage::CrashDisk;
use crate::server::turn_crash::rows::connect;
use crate::test_app::{TestApp, last_text};

/// Compresses a conversation past the server, from a thread of its own.
fn compress(data: std::path::PathBuf, id: String) {
    let work = async move {
        let mut connection = connect(&data).await;
        query(
            "INSERT INTO sessions (session_id, title, agent, workspace, parent_session_id, \
             relation, lineage_root_id, segment, created_at, last_activity_at) \
             SELECT 'continuation', title, agent, workspace, session_id, 'continuation', \
             lineage_root_id, segment + 1, created_at + 1, last_activity_at FROM sessions \
             WHERE session_id = $1",
        )
        .bind(&id)
        .execute(&mut connection)
        .await
        .unwrap();
        query(
            "UPDATE sessions SET snapshot = 1, continuation_session_id = 'continuation' \
             WHERE session_id = $1",
        )
        .bind(&id)
        .execute(&mut connection)
        .await
        .unwrap();
        connection.close().await.unwrap();
    };
    let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    std::thread::spawn(move || runtime().block_on(work)).join().unwrap();
}

#[tokio::test]
async fn a_prompt_whose_conversation_is_compressed_meanwhile_goes_to_the_continuation() {
    let disk = CrashDisk::default();
    let app = TestApp::start_on(&disk).await;
    let id = app.new_session().await;
    let (data, named) = (app.data.path().to_owned(), id.clone());
    // The journal's sync is the moment between the check and the transaction.
    disk.on_sync(move || compress(data, named));
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    let response = app.submit(&id, "t1", "[[say here now]]").await;
    assert_eq!(response.status(), StatusCode::ACCEPTED);
    let receipt: Value = response.json().await.unwrap();
    assert_eq!(receipt["session_id"], "continuation", "the receipt names where it went");
    let mut socket = app.socket().await;
    socket.subscribe("continuation", Some(0)).await;
    socket.until_event("agent_end").await;
    let transcript = app.get_json("/api/sessions/continuation").await;
    assert_eq!(last_text(&transcript), "here now");
    assert!(disk.content(&format!("{id}.jsonl")).is_some(), "its journal is where it was sent");
    let again: Value = app.submit(&id, "t1", "[[say here now]]").await.json().await.unwrap();
    assert_eq!((&again["accepted"], &again["session_id"]), (&json!(false), &json!("continuation")));
}

/// What was acknowledged is not idle: whoever reads the conversation next sees that it is worked on,
/// also when its task is only being started.
#[tokio::test(flavor = "multi_thread")]
async fn a_transcript_read_after_the_acknowledgement_shows_the_turn_running() {
    let app = TestApp::start().await;
    for round in 0..40 {
        let id = app.new_session().await;
        let turn_id = format!("t{round}");
        app.submit(&id, &turn_id, "[[hang]]").await;
        let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
        assert_eq!(transcript["turn_id"], json!(turn_id), "{transcript}");
    }
}

#[tokio::test]
async fn a_conversation_takes_only_so_many_waiting_turns() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let mut refused = None;
    for number in 0..300 {
        let response = app.submit(&id, &format!("t{number}"), "[[hang]]").await;
        if response.status() != StatusCode::ACCEPTED {
            refused = Some((number, response));
            break;
        }
    }
    let (number, response) = refused.expect("the queue has no bound");
    assert_eq!((number, response.status()), (256, StatusCode::SERVICE_UNAVAILABLE));
    let body: Value = response.json().await.unwrap();
    assert!(body["error"]["message"].as_str().unwrap().starts_with("Too many messages wait"));
    let mut socket = app.socket().await;
    let withdraw = json!({ "type": "withdraw", "turn_id": "t200" });
    assert_eq!(socket.command(&id, &withdraw).await["ok"], true);
    let response = app.submit(&id, "t256", "[[hang]]").await;
    assert_eq!(response.status(), StatusCode::ACCEPTED, "there is room for one again");
}

#[tokio::test]
async fn an_answer_is_stored_only_while_its_question_waits() {
    let rest = AtRest::new().await;
    let asked = answer("t1", MessageState::Waiting, "Which way?");
    rest.store(&[prompt("t1", "Ask me."), asked.clone()]).await;
    let store = Store::open(rest.data.path()).await.unwrap();
    let mut answered = asked.clone();
    answered.state = MessageState::Interrupted;
    let new = |turn_id: &str| NewPrompt {
        session_id: rest.session_id.clone(),
        message: prompt(turn_id, "My answer."),
        answered: Some(answered.clone()),
    };
    let first = store.insert_prompts(vec![new("answer:t1")]).await.unwrap();
    assert!(matches!(&*first, [PromptInsert::Inserted { .. }]), "{first:?}");
    assert_eq!(store.waiting_answer(&rest.session_id).await.unwrap(), None, "it is closed with it");
    let second = store.insert_prompts(vec![new("late")]).await.unwrap();
    assert_eq!(second, [PromptInsert::QuestionClosed]);
    let page = store.message_page(&rest.session_id, None, 10).await.unwrap();
    assert_eq!(page.messages.len(), 3, "the late answer left nothing");
    store.close().await;
}

/// A row that another connection put in the same place must not swallow a prompt.
#[tokio::test]
async fn a_conflict_of_places_is_an_error_and_no_silent_loss() {
    let rest = AtRest::new().await;
    let mut connection = connect(rest.data.path()).await;
    query(
        "CREATE TRIGGER rival BEFORE INSERT ON messages WHEN new.message_id <> 'rival' BEGIN \
         INSERT INTO messages (message_id, session_id, position, role, state, parts, created_at) \
         VALUES ('rival', new.session_id, new.position, 'assistant', 'complete', '[]', 0); END",
    )
    .execute(&mut connection)
    .await
    .unwrap();
    connection.close().await.unwrap();
    let store = Arc::new(Store::open(rest.data.path()).await.unwrap());
    let session_id = rest.session_id.clone();
    let new = NewPrompt { session_id, message: prompt("t1", "Keep me."), answered: None };
    let inserted = store.insert_prompts(vec![new]).await;
    assert!(inserted.is_err(), "{inserted:?}");
    let saved = store.save_message(&rest.session_id, &prompt("t2", "Keep me too.")).await;
    assert!(saved.is_err(), "{saved:?}");
    store.close().await;
}
