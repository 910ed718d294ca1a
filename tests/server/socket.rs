use serde_json::{Value, json};

use crate::test_app::TestApp;

#[tokio::test]
async fn two_sockets_see_the_same_numbers_and_the_same_events() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let (mut one, mut two) = (app.socket().await, app.socket().await);
    one.subscribe(&id, None).await;
    two.subscribe(&id, None).await;
    app.submit(&id, "t1", "[[say one two three]]").await;
    let (left, right) = (one.until_event("agent_end").await, two.until_event("agent_end").await);
    assert_eq!(left, right);
    let numbers: Vec<_> = left.iter().map(|frame| frame["seq"].as_u64().unwrap()).collect();
    let expected: Vec<_> = (1..=numbers.len() as u64).collect();
    assert_eq!(numbers, expected, "numbers start at one and have no hole");
}

#[tokio::test]
async fn a_reader_that_comes_back_gets_exactly_what_it_missed() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let mut witness = app.socket().await;
    witness.subscribe(&id, None).await;
    app.submit(&id, "t1", "[[say one]][[tool list .]][[say two]]").await;
    let all = witness.until_event("agent_end").await;
    for seen in 0..=all.len() as u64 {
        let mut late = app.socket().await;
        late.subscribe(&id, Some(seen)).await;
        for expected in all.iter().skip(seen as usize) {
            let frame = late.until("rpc_event").await;
            assert_eq!(frame["replay"], true);
            assert_eq!((&frame["seq"], &frame["event"]), (&expected["seq"], &expected["event"]));
        }
    }
}

#[tokio::test]
async fn a_cursor_from_another_epoch_gets_a_gap_and_never_silence() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "[[say hello]]").await;
    let mut socket = app.socket().await;
    socket.epoch = "another".into();
    socket.subscribe(&id, Some(1)).await;
    let gap = socket.until("rpc_replay_gap").await;
    assert_eq!(gap["session_id"], id);
    socket.epoch = gap["epoch"].as_str().unwrap().to_owned();
    socket.subscribe(&id, Some(999_999)).await;
    socket.until("rpc_replay_gap").await;
}

#[tokio::test]
async fn a_fetch_names_the_number_from_which_events_go_on() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let mut witness = app.socket().await;
    witness.subscribe(&id, None).await;
    app.submit(&id, "t1", "[[ask Go on? | Yes]]").await;
    let before = witness.until_event("question").await;
    let fetched = app.get_json(&format!("/api/sessions/{id}")).await;
    let as_of = fetched["as_of"]["seq"].as_u64().unwrap();
    assert!(as_of >= before.last().unwrap()["seq"].as_u64().unwrap());
    assert_eq!(fetched["messages"][1]["state"], "streaming", "the live partial answer is in it");
    let mut late = app.socket().await;
    late.subscribe(&id, Some(as_of)).await;
    late.command(&id, &json!({ "type": "cancel" })).await;
    let next = late.until("rpc_event").await;
    assert_eq!(next["seq"].as_u64().unwrap(), as_of + 1);
}

#[tokio::test]
async fn a_prompt_over_the_socket_takes_the_same_way_in() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    let prompt = json!({ "type": "prompt", "turn_id": "t1", "content": "[[say hi]]" });
    let first = socket.command(&id, &prompt).await;
    assert_eq!((&first["ok"], &first["data"]["accepted"]), (&json!(true), &json!(true)));
    let again = socket.command(&id, &prompt).await;
    assert_eq!((&again["ok"], &again["data"]["accepted"]), (&json!(true), &json!(false)));
}

#[tokio::test]
async fn rows_change_in_every_open_list() {
    let app = TestApp::start().await;
    let mut socket = app.socket().await;
    let id = app.new_session().await;
    let created = socket.until("sessions_changed").await;
    assert_eq!(created["changed"][0]["session_id"], id);
    app.submit(&id, "t1", "[[say hi]]").await;
    loop {
        let changed = socket.until("sessions_changed").await;
        let row = &changed["changed"][0];
        if row["status"] == "idle" && row["milestone"] == "agent_end" {
            assert_eq!(row["preview"], "hi");
            break;
        }
    }
}

#[tokio::test]
async fn events_reach_only_those_who_asked_for_them() {
    let app = TestApp::start().await;
    let (watched, other) = (app.new_session().await, app.new_session().await);
    let mut socket = app.socket().await;
    socket.subscribe(&watched, None).await;
    app.converse(&other, "t1", "[[say not for you]]").await;
    app.submit(&watched, "t2", "[[say for you]]").await;
    for frame in socket.until_event("agent_end").await {
        assert_eq!(frame["session_id"], watched);
    }
}

#[tokio::test]
async fn an_unknown_session_is_named_as_such() {
    let app = TestApp::start().await;
    let mut socket = app.socket().await;
    socket.subscribe("nowhere", None).await;
    let mut socket = app.socket().await;
    socket.subscribe("nowhere", Some(0)).await;
    let frame = socket.until("rpc_session_not_found").await;
    assert_eq!(frame["session_id"], "nowhere");
    let response = socket.command("nowhere", &json!({ "type": "cancel" })).await;
    assert_eq!(response["error"]["code"], "session_not_found");
}

#[tokio::test]
async fn malformed_frames_are_refused_and_repeated_ones_end_the_connection() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let before = app.get_json("/api/sessions").await;
    let mut socket = app.socket().await;
    let bad = [
        "",
        "not json",
        "[]",
        "{}",
        r#"{"type":"unknown"}"#,
        r#"{"type":"rpc_command"}"#,
        r#"{"type":"subscribe","session_id":"../etc","level":"full"}"#,
        r#"{"type":"subscribe","session_id":"a","level":"loud"}"#,
    ];
    for text in bad {
        socket.send_text(text).await;
        assert_eq!(socket.until("error").await["code"], "invalid_request", "{text}");
    }
    assert_eq!(socket.next().await, None, "after so much nonsense the server hangs up");
    assert_eq!(app.get_json("/api/sessions").await, before);
    assert_eq!(app.get_json(&format!("/api/sessions/{id}")).await["messages"], json!([]));
}

#[tokio::test]
async fn nothing_is_answered_before_hello_and_another_protocol_is_refused() {
    let app = TestApp::start().await;
    let mut socket = app.raw_socket().await;
    socket.send(&json!({ "type": "rpc_ping", "ts": 1.0 })).await;
    assert_eq!(socket.next().await.unwrap()["type"], "error");
    socket.send(&json!({ "type": "hello", "protocol": 99, "subscriptions": [] })).await;
    assert_eq!(socket.next().await.unwrap()["type"], "error");
    assert_eq!(socket.next().await, None);
}

#[tokio::test]
async fn an_oversized_frame_ends_the_connection_and_nothing_else() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let mut socket = app.socket().await;
    let huge = json!({ "type": "rpc_command", "session_id": id, "command_id": "c",
        "command": { "type": "prompt", "turn_id": "t", "content": "x".repeat(3 << 20) } });
    socket.send(&huge).await;
    while let Some(frame) = socket.next().await {
        assert_ne!(frame["type"], "rpc_response");
    }
    assert_eq!(
        app.get_json(&format!("/api/sessions/{id}")).await["messages"],
        Value::Array(vec![])
    );
}
