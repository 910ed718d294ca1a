//! Prompts that wait for the turn under way.

use serde_json::{Value, json};

use crate::test_app::TestApp;

async fn waiting(app: &TestApp, id: &str) -> Vec<Value> {
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    transcript["queued"].as_array().unwrap().clone()
}

#[tokio::test]
async fn a_queued_prompt_can_be_taken_back_and_leaves_no_trace_in_the_conversation() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    app.submit(&id, "t1", "[[hang]]").await;
    socket.until_event("agent_start").await;
    app.submit(&id, "t2", "a heron that is taken back").await;
    app.submit(&id, "t3", "[[say still here]]").await;
    assert_eq!(waiting(&app, &id).await, ["t2", "t3"]);

    let withdraw = json!({ "type": "withdraw", "turn_id": "t2" });
    assert_eq!(socket.command(&id, &withdraw).await["ok"], true);
    assert_eq!(waiting(&app, &id).await, ["t3"]);
    let again = socket.command(&id, &withdraw).await;
    assert_eq!(again["error"]["code"], "nothing_runs");
    let running = json!({ "type": "withdraw", "turn_id": "t1" });
    assert_eq!(socket.command(&id, &running).await["ok"], false);

    socket.command(&id, &json!({ "type": "cancel" })).await;
    let mut ends = 0;
    while ends < 2 {
        socket.until_event("agent_end").await;
        ends += 1;
    }
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    let text = transcript.to_string();
    assert!(text.contains("still here") && !text.contains("heron"), "{text}");
    let hits = app.get_json("/api/search?q=heron").await;
    assert_eq!(hits, json!([]));

    let app = app.restart().await;
    let text = app.get_json(&format!("/api/sessions/{id}")).await.to_string();
    assert!(!text.contains("heron"), "recovery does not bring it back");
    let report = app.get_json("/api/session/recovery/audit").await;
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["severity"] == "ok"), "{report}");
}
