//! What a connection is told of sessions that it does not look at, and commands sent twice.

use serde_json::json;

use crate::test_app::TestApp;

#[tokio::test]
async fn a_background_session_costs_small_frames_and_no_deltas() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let mut socket = app.socket().await;
    socket.send(&json!({ "type": "subscribe", "session_id": id, "level": "meta" })).await;
    let first = socket.until("session_meta").await;
    assert_eq!(first["status"], "idle");

    app.submit(&id, "t1", "[[long 20]][[ask Go on?]]").await;
    let mut statuses = Vec::new();
    loop {
        let frame = socket.next().await.unwrap();
        assert_ne!(frame["type"], "rpc_event", "deltas are for those who look");
        if frame["type"] == "session_meta" {
            assert!(frame.to_string().len() < 1024);
            statuses.push(frame["status"].as_str().unwrap().to_owned());
            if frame["open_questions"] == 1 {
                break;
            }
        }
    }
    assert_eq!(statuses.last().unwrap(), "waiting");
    assert!(statuses.len() <= 4, "one frame a change of state: {statuses:?}");
}

#[tokio::test]
async fn a_meta_subscription_to_nothing_is_told_so() {
    let app = TestApp::start().await;
    let mut socket = app.socket().await;
    socket.send(&json!({ "type": "subscribe", "session_id": "gone", "level": "meta" })).await;
    assert_eq!(socket.until("rpc_session_not_found").await["session_id"], "gone");
}

#[tokio::test]
async fn a_command_sent_twice_is_done_once_and_answered_twice() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    app.submit(&id, "t1", "[[ask Shall I?]]").await;
    let asked = socket.until_event("question").await;
    let question = &asked.last().unwrap()["event"]["question"];
    let answer = json!({
        "type": "answer", "request_id": question["request_id"],
        "option": question["options"][0]["option"],
    });
    let first = socket.command_as("again", &id, &answer).await;
    let mut other = app.socket().await;
    let second = other.command_as("again", &id, &answer).await;
    assert_eq!(first["ok"], true);
    assert_eq!(first, second, "the stored response, also by another connection");
    let late = other.command_as("another", &id, &answer).await;
    assert_eq!(late["error"]["code"], "question_closed");
}
