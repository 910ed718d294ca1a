//! Commands that are sent again, and what is remembered of them.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use throughline::domain::ids::{CommandId, SessionId};
use throughline::server::sessions::CommandCache;
use throughline::wire::error::{Failure, FailureCode};

use crate::test_app::TestApp;

fn ids(number: usize) -> (SessionId, CommandId) {
    (SessionId::parse("s").unwrap(), CommandId::parse(&format!("c{number}")).unwrap())
}

#[tokio::test]
async fn a_command_sent_again_is_not_executed_again() {
    let (cache, executed) = (CommandCache::default(), AtomicUsize::new(0));
    let (session, command) = ids(1);
    for _ in 0..3 {
        let execute = async {
            executed.fetch_add(1, Ordering::Relaxed);
            Err(Failure::new(FailureCode::NothingRuns, "Nothing is running here."))
        };
        let outcome = cache.once(&session, &command, execute).await;
        assert_eq!(outcome.unwrap_err().code, FailureCode::NothingRuns);
    }
    assert_eq!(executed.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn remembered_outcomes_are_bounded_by_bytes() {
    let cache = CommandCache::default();
    for number in 0..2_000 {
        let (session, command) = ids(number);
        let long = Failure::new(FailureCode::AgentUnavailable, "x".repeat(10_000));
        cache.once(&session, &command, async { Err(long) }).await.unwrap_err();
        assert!(cache.bytes() <= 1 << 20, "{} bytes after {number}", cache.bytes());
    }
    assert!(cache.bytes() > 1 << 19, "the newest are remembered");
}

/// A transcript is read each time: remembering it would keep it in memory, and be out of date.
#[tokio::test]
async fn reading_the_state_is_never_answered_from_memory() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let mut socket = app.socket().await;
    let state = json!({ "type": "get_state" });
    let empty = socket.command_as("c1", &id, &state).await;
    assert_eq!(empty["data"]["messages"], json!([]));
    app.converse(&id, "t1", "[[say hello]]").await;
    let later = socket.command_as("c1", &id, &state).await;
    assert_eq!(later["data"]["messages"].as_array().unwrap().len(), 2, "{later}");
}

/// One press of Send has one id: the turn's. The command's id decides nothing.
#[tokio::test]
async fn a_prompt_is_known_by_its_turn_id_alone() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let mut socket = app.socket().await;
    let prompt = |turn: &str| json!({ "type": "prompt", "turn_id": turn, "content": "[[say hi]]" });
    let first = socket.command_as("c1", &id, &prompt("t1")).await;
    assert_eq!(first["data"]["accepted"], true);
    let copy = socket.command_as("c2", &id, &prompt("t1")).await;
    assert_eq!(copy["data"]["accepted"], false, "another command id, the same turn");
    let other = socket.command_as("c1", &id, &prompt("t2")).await;
    assert_eq!(other["data"]["accepted"], true, "the same command id, another turn");
    assert_eq!(other["data"]["turn_id"], "t2");
}
