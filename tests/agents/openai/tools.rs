//! What a model does in the conversation's folder, and what it may not.

use std::path::Path;

use serde_json::{Value, json};

use super::{answer_to, begin, start, stop, words};
use crate::fake_model::Dialect;
use crate::test_app::{TestApp, TestSocket, last_text};

fn write(app: &TestApp, name: &str, text: &str) {
    std::fs::write(app.workspace.path().join(name), text).unwrap();
}

async fn answer(app: &TestApp, socket: &mut TestSocket, id: &str, asked: &Value, option: &str) {
    let request_id = &asked["question"]["request_id"];
    let answer = json!({ "type": "answer", "request_id": request_id, "option": option });
    assert_eq!(socket.command(id, &answer).await["ok"], true);
    socket.until_event("agent_end").await;
    assert_eq!(app.get_json(&format!("/api/sessions/{id}")).await["status"], "idle");
}

#[tokio::test]
async fn looking_needs_no_question_and_stays_inside() {
    for dialect in [Dialect::Ollama, Dialect::LlamaCpp] {
        let (app, _model) = start(dialect).await;
        write(&app, "notes.txt", "remember the milk\n");
        let id = app.new_session().await;
        let read = words(&app, &id, "t1", r#"tool read_file {"path":"notes.txt"}"#).await;
        assert!(read.trim_end().ends_with("It gave: remember the milk"), "{dialect:?}: {read}");
        let listed = words(&app, &id, "t2", r#"tool list_folder {"path":"."}"#).await;
        assert!(listed.contains("notes.txt"), "{listed}");
        let found = words(&app, &id, "t3", r#"tool search {"text":"milk"}"#).await;
        assert!(found.contains("notes.txt:1"), "{found}");
        for path in ["/etc/passwd", "../../etc/passwd"] {
            let prompt = format!("tool read_file {}", json!({ "path": path }));
            let refused = answer_to(&app, &id, &format!("t-{}", path.len()), &prompt).await;
            let refused = refused.to_string();
            assert!(!refused.contains("root:"), "{refused}");
            assert!(refused.contains("\"failed\""), "{refused}");
        }
    }
}

#[tokio::test]
async fn a_link_that_leads_out_is_not_followed() {
    let (app, _model) = start(Dialect::Ollama).await;
    std::os::unix::fs::symlink("/etc", app.workspace.path().join("inside")).unwrap();
    let id = app.new_session().await;
    let said = answer_to(&app, &id, "t1", r#"tool read_file {"path":"inside/passwd"}"#).await;
    assert!(said.to_string().contains("outside the folder"), "{said}");
    let said =
        answer_to(&app, &id, "t2", r#"tool create_file {"path":"inside/x","text":"y"}"#).await;
    assert!(said.to_string().contains("outside the folder"), "{said}");
}

#[tokio::test]
async fn a_change_is_asked_for_and_shown_as_a_difference() {
    let (app, _model) = start(Dialect::Ollama).await;
    write(&app, "notes.txt", "remember the milk\n");
    let id = app.new_session().await;
    let prompt = r#"tool edit_file {"path":"notes.txt","old_text":"milk","new_text":"bread"}"#;
    let (mut socket, asked) = begin(&app, &id, prompt, "question").await;
    assert_eq!(asked["question"]["title"], "Change notes.txt?");
    let before = std::fs::read_to_string(app.workspace.path().join("notes.txt")).unwrap();
    assert_eq!(before, "remember the milk\n", "nothing happens before the answer");
    answer(&app, &mut socket, &id, &asked, "once").await;
    let after = std::fs::read_to_string(app.workspace.path().join("notes.txt")).unwrap();
    assert_eq!(after, "remember the bread\n");
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await.to_string();
    assert!(transcript.contains("\"diff\""), "{transcript}");
}

#[tokio::test]
async fn no_is_no_and_always_lasts_for_the_conversation() {
    let (app, _model) = start(Dialect::LlamaCpp).await;
    let id = app.new_session().await;
    let prompt = r#"tool run_command {"command":"echo made > made.txt; echo said"}"#;
    let (mut socket, asked) = begin(&app, &id, prompt, "question").await;
    assert_eq!(asked["question"]["detail"], "echo made > made.txt; echo said");
    answer(&app, &mut socket, &id, &asked, "reject").await;
    assert!(!Path::exists(&app.workspace.path().join("made.txt")));
    let said = last_text(&app.get_json(&format!("/api/sessions/{id}")).await);
    assert!(said.contains("The person said no"), "{said}");

    app.submit(&id, "again", prompt).await;
    let asked = socket.until_event("question").await.last().unwrap()["event"].clone();
    answer(&app, &mut socket, &id, &asked, "always").await;
    assert!(Path::exists(&app.workspace.path().join("made.txt")));
    let said = words(&app, &id, "third", prompt).await;
    assert!(said.trim_end().ends_with("It gave: said"), "it is not asked again: {said}");
}

#[tokio::test]
async fn stop_ends_a_command_with_all_that_it_started() {
    let (app, _model) = start(Dialect::Ollama).await;
    let id = app.new_session().await;
    let prompt = r#"tool run_command {"command":"echo $$; sleep 1000 & sleep 1000"}"#;
    let (mut socket, asked) = begin(&app, &id, prompt, "question").await;
    let request_id = &asked["question"]["request_id"];
    let answer = json!({ "type": "answer", "request_id": request_id, "option": "once" });
    assert_eq!(socket.command(&id, &answer).await["ok"], true);
    let shown = socket.until_event("tool_update").await;
    let shown = shown.last().unwrap()["event"]["output"]["text"].as_str().unwrap().to_owned();
    assert_eq!(stop(&app, &mut socket, &id).await["state"], "cancelled");
    super::super::common::until_gone(shown.trim()).await;
    assert_eq!(words(&app, &id, "t2", "say usable").await, "usable");
}

#[tokio::test]
async fn what_is_no_tool_is_told_to_the_model() {
    let (app, _model) = start(Dialect::Ollama).await;
    let id = app.new_session().await;
    let said = words(&app, &id, "t1", r#"tool fly {"to":"the moon"}"#).await;
    assert!(said.contains("There is no tool named fly."), "{said}");
    let said = words(&app, &id, "t2", "tool read_file {broken").await;
    assert!(said.contains("no JSON"), "{said}");
}
