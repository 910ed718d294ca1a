//! A reader that stops reading harms nobody but itself, and is told what it missed.

use std::fs;

use serde_json::{Value, json};

use crate::test_app::{TestApp, TestSocket};

/// Enough turns to fill every buffer between the server and one who does not read.
const TURNS: usize = 120;

/// Checks that events follow on one another, and gives the number of the last.
fn check_whole(events: &[Value], after: u64) -> u64 {
    events.iter().fold(after, |last, frame| {
        let seq = frame["seq"].as_u64().unwrap();
        assert_eq!(seq, last + 1);
        seq
    })
}

#[tokio::test]
async fn one_who_does_not_read_gets_a_gap_and_the_others_get_everything() {
    let app = TestApp::start().await;
    fs::write(app.workspace.path().join("page.txt"), "many words\n".repeat(1_000)).unwrap();
    let id = app.new_session().await;
    let mut asleep = TestSocket::open_narrow(&app.base).await;
    asleep.subscribe(&id, None).await;
    let mut awake = app.socket().await;
    awake.subscribe(&id, None).await;
    let mut last = 0;
    for turn in 0..TURNS {
        let prompt = "[[tool read page.txt]]".repeat(4);
        app.submit(&id, &format!("t{turn}"), &prompt).await;
        last = check_whole(&awake.until_event("agent_end").await, last);
    }
    let mut heard = Vec::new();
    loop {
        let frame = asleep.next().await.expect("the connection should be open");
        match frame["type"].as_str() {
            Some("rpc_event") => heard.push(frame),
            Some("rpc_replay_gap") => {
                assert_eq!(
                    (&frame["session_id"], &frame["latest_seq"]),
                    (&json!(id), &json!(last))
                );
                break;
            }
            _ => {}
        }
    }
    let seen = check_whole(&heard, 0);
    assert!(seen < last, "{seen} of {last} events were waiting");

    let fetched = app.get_json(&format!("/api/sessions/{id}")).await;
    assert_eq!(fetched["as_of"]["seq"], last, "a fetch makes up for what was lost");
    app.submit(&id, "more", "[[say Good morning.]]").await;
    check_whole(&asleep.until_event("agent_end").await, last);
}
