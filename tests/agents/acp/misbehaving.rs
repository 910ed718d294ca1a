//! Agents that do what they should not. Each case leaves a session that can be used, plain words
//! about what happened, and other sessions untouched.

use super::{answer_to, begin, start, stop, words};
use crate::test_app::TestApp;

/// Runs a bad prompt beside a good session in another process, and checks what must hold of both.
async fn check(prompt: &str, state: &str, told: &str) {
    let app = start().await;
    let folder = app.workspace.path().join("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    let id = app.new_session().await;
    let bystander = bystander(&app).await;
    let answer = answer_to(&app, &id, "t1", prompt).await;
    assert_eq!(answer["state"], state, "{prompt}: {answer}");
    assert!(answer.to_string().contains(told), "{prompt}: {answer}");
    let again = words(&app, &id, "t2", "say usable").await;
    assert!(again.ends_with("usable"), "{prompt}: {again}");
    assert!(words(&app, &bystander, "t4", "say untouched").await.ends_with("untouched"));
    let transcript = app.get_json(&format!("/api/sessions/{bystander}")).await;
    for message in transcript["messages"].as_array().unwrap() {
        assert_eq!(message["state"], "complete", "{prompt}");
    }
}

async fn bystander(app: &TestApp) -> String {
    let new = serde_json::json!({ "workspace": "elsewhere" });
    let made: serde_json::Value = app.post("/api/sessions/new", &new).await.json().await.unwrap();
    let id = made["session_id"].as_str().unwrap().to_owned();
    assert!(words(app, &id, "t3", "say hello").await.ends_with("hello"));
    id
}

#[tokio::test]
async fn noise_is_passed_over() {
    check("noise", "complete", "still here").await;
}

#[tokio::test]
async fn what_is_not_known_becomes_a_quiet_notice() {
    check("unknown", "complete", "not shown here: telepathy_update").await;
    check("unknown", "complete", "not shown here: hologram").await;
}

#[tokio::test]
async fn an_unknown_reason_to_stop_is_still_an_end() {
    check("reason", "complete", "a reason of its own: cosmic_rays").await;
}

#[tokio::test]
async fn an_error_is_told_in_the_agents_words() {
    check("error", "failed", "the model is not there").await;
}

#[tokio::test]
async fn a_huge_line_ends_the_process_and_not_the_conversation() {
    check("huge", "crashed", "more than 32 MB").await;
}

#[tokio::test]
async fn death_in_a_prompt_is_told_with_the_last_words() {
    check("die", "crashed", "exit code 3").await;
    check("die", "crashed", "boom: the disk is on fire").await;
}

#[tokio::test]
async fn death_in_a_tool_is_told() {
    check("die-in-tool", "crashed", "signal 6").await;
}

/// A child of the agent holds its output open: only the process itself tells that it is gone.
#[tokio::test]
async fn death_is_noticed_though_the_output_never_ends() {
    check("leave-child and die", "crashed", "exit code 4").await;
}

#[tokio::test]
async fn an_agent_that_closes_its_output_is_gone() {
    check("close", "crashed", "stopped unexpectedly").await;
}

#[tokio::test]
async fn sessions_of_the_same_process_end_in_plain_words_and_go_on() {
    let app = start().await;
    let (first, second) = (app.new_session().await, app.new_session().await);
    let idle = app.new_session().await;
    app.converse(&idle, "t0", "count").await;
    let (mut socket, _) = begin(&app, &second, "until-cancelled never", "message_delta").await;
    let died = answer_to(&app, &first, "t1", "die").await;
    assert_eq!(died["state"], "crashed");
    socket.until_event("agent_end").await;
    let transcript = app.get_json(&format!("/api/sessions/{second}")).await;
    let beside = transcript["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(beside["state"], "crashed");
    assert!(beside.to_string().contains("working"), "what was said is kept");
    for id in [&first, &second] {
        assert!(words(&app, id, &format!("{id}-again"), "say usable").await.ends_with("usable"));
    }
    let transcript = app.get_json(&format!("/api/sessions/{idle}")).await;
    assert_eq!(transcript["messages"].as_array().unwrap().len(), 2, "no news for who was idle");
    assert_eq!(words(&app, &idle, "t2", "count").await, "prompt 2", "and it is resumed");
}

#[tokio::test]
async fn silence_can_be_stopped_and_leaves_the_others_alone() {
    let app = start().await;
    let (id, bystander) = (app.new_session().await, app.new_session().await);
    let (mut beside, _) =
        begin(&app, &bystander, "until-cancelled end_turn", "message_delta").await;
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    app.submit(&id, "t1", "silence").await;
    socket.until_event("message_delta").await;
    assert_eq!(stop(&app, &mut socket, &id).await["state"], "cancelled");
    assert!(words(&app, &id, "t2", "say usable").await.ends_with("usable"));
    let transcript = app.get_json(&format!("/api/sessions/{bystander}")).await;
    assert_eq!(transcript["status"], "streaming", "its neighbour still works");
    assert_eq!(stop(&app, &mut beside, &bystander).await["state"], "cancelled");
}

#[tokio::test]
async fn an_agent_that_cannot_be_started_says_so() {
    let mut settings = crate::fake_agent::settings();
    settings.command = "/bin/sh".to_owned();
    settings.arguments = ["-c", "echo no model configured >&2; exit 9"].map(str::to_owned).to_vec();
    let app = super::start_with(settings).await;
    let id = app.new_session().await;
    let answer = answer_to(&app, &id, "t1", "say hello").await;
    assert_eq!(answer["state"], "failed");
    assert!(answer.to_string().contains("exit code 9"), "{answer}");
    assert!(answer.to_string().contains("no model configured"), "{answer}");
}
