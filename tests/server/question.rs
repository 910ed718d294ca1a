//! Questions that outlive the server which asked them.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;
use throughline::domain::message::{Choice, ChoiceTone, Message, MessageState, Part, Question};

use crate::at_rest::{AtRest, LONG_AGO, answer, prompt, submission, turn};
use crate::live_process::LiveProcess;
use crate::test_app::{TestApp, TestSocket, last_text};

async fn transcript(app: &TestApp, id: &str) -> Value {
    app.get_json(&format!("/api/sessions/{id}")).await
}

async fn row(app: &TestApp, id: &str) -> Value {
    let list = app.get_json("/api/sessions").await;
    let rows = list["sessions"].as_array().unwrap();
    rows.iter().find(|row| row["session_id"] == id).unwrap().clone()
}

fn questions(transcript: &Value) -> Vec<Value> {
    let messages = transcript["messages"].as_array().unwrap().iter();
    let parts = messages.flat_map(|message| message["parts"].as_array().unwrap());
    parts.filter(|part| part["type"] == "question").cloned().collect()
}

fn taking(question: &Value, option: &str) -> Value {
    json!({ "type": "answer", "request_id": question["request_id"], "option": option })
}

/// Starts a server, lets its agent ask, and starts it anew.
async fn asked(content: &str) -> (TestApp, String) {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    ask(&app, &id, "t1", content).await;
    (app.restart().await, id)
}

async fn ask(app: &TestApp, id: &str, turn_id: &str, content: &str) {
    let mut socket = app.socket().await;
    socket.subscribe(id, None).await;
    app.submit(id, turn_id, content).await;
    socket.until_event("question").await;
}

/// Answers the last question, and reads on until the turn that follows has come to this.
async fn take(app: &TestApp, id: &str, option: &str, until: &str) -> Value {
    let mut socket = app.socket().await;
    socket.subscribe(id, None).await;
    let open = questions(&transcript(app, id).await).pop().unwrap();
    let response = socket.command(id, &taking(&open, option)).await;
    if response["ok"] != true {
        return response;
    }
    let mut late = app.socket().await;
    late.subscribe(id, Some(0)).await;
    late.until_event(until).await;
    response
}

#[tokio::test]
async fn a_question_is_still_asked_after_a_restart_and_the_answer_lets_the_agent_go_on() {
    let content = "[[say Before.]][[tool list .]][[ask Which way? | Left | Right]][[say After.]]";
    let (app, id) = asked(content).await;
    let waiting = transcript(&app, &id).await;
    assert_eq!((&waiting["status"], &waiting["turn_id"]), (&json!("waiting"), &Value::Null));
    assert_eq!(waiting["messages"][1]["state"], "waiting");
    let shown = row(&app, &id).await;
    assert_eq!((&shown["status"], &shown["open_questions"]), (&json!("waiting"), &json!(1)));
    assert_eq!((&shown["milestone"], &shown["unread"]), (&json!("question"), &json!(true)));

    assert_eq!(take(&app, &id, "Left", "agent_end").await["ok"], true);
    let ended = transcript(&app, &id).await;
    assert_eq!(ended["messages"].as_array().unwrap().len(), 4);
    assert_eq!(ended["messages"][1]["state"], "interrupted");
    assert_eq!(questions(&ended).pop().unwrap()["answer"], "Left");
    assert_eq!(ended["messages"][2]["parts"][0]["text"], "My answer to “Which way?”: Left");
    assert_eq!(last_text(&ended), "You chose **Left**.After.", "and nothing of what came before");
    assert_eq!(ended["messages"][3]["state"], "complete");
    let shown = row(&app, &id).await;
    assert_eq!((&shown["status"], &shown["open_questions"]), (&json!("idle"), &json!(0)));
    let report = app.get_json("/api/session/recovery/audit").await;
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["severity"] == "ok"), "{report}");
}

#[tokio::test]
async fn a_question_survives_a_server_that_was_killed_and_killed_again() {
    let (data, workspace) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let process = LiveProcess::start(data.path()).await;
    let http = reqwest::Client::new();
    let new = http.post(format!("{}/api/sessions/new", process.base)).json(&json!({}));
    let session: Value = new.send().await.unwrap().json().await.unwrap();
    let id = session["session_id"].as_str().unwrap().to_owned();
    let mut socket = TestSocket::open(&process.base).await;
    socket.subscribe(&id, None).await;
    let content = "[[ask Really? | Yes | No]][[say Done.]]";
    let prompt = json!({ "type": "prompt", "turn_id": "t1", "content": content });
    socket
        .send(&json!({
            "type": "rpc_command", "session_id": id, "command_id": "c1", "command": prompt,
        }))
        .await;
    socket.until_event("question").await;
    // The row says so only once the question is stored.
    while socket.until("sessions_changed").await["changed"][0]["status"] != "waiting" {}
    process.kill().await;
    LiveProcess::start(data.path()).await.kill().await;

    let app = TestApp::start_with(data, workspace).await;
    assert_eq!(row(&app, &id).await["status"], "waiting");
    assert_eq!(take(&app, &id, "Yes", "agent_end").await["ok"], true);
    assert_eq!(last_text(&transcript(&app, &id).await), "You chose **Yes**.Done.");
}

#[tokio::test]
async fn of_many_answers_to_a_kept_question_one_counts() {
    let (app, id) = asked("[[ask Which? | Left | Right]]").await;
    let question = questions(&transcript(&app, &id).await).pop().unwrap();
    let wrong = app.socket().await.command(&id, &taking(&question, "Up")).await;
    assert_eq!(wrong["error"]["code"], "invalid_request");
    let tabs = (0..8).map(|tab| {
        let (app, id, question) = (&app, &id, &question);
        async move {
            let option = if tab % 2 == 0 { "Left" } else { "Right" };
            app.socket().await.command(id, &taking(question, option)).await
        }
    });
    let responses = futures::future::join_all(tabs).await;
    let (taken, late): (Vec<_>, Vec<_>) = responses.iter().partition(|it| it["ok"] == true);
    assert_eq!(taken.len(), 1, "{responses:?}");
    assert!(late.iter().all(|it| it["error"]["code"] == "question_closed"), "{responses:?}");
    let mut socket = app.socket().await;
    socket.subscribe(&id, Some(0)).await;
    socket.until_event("agent_end").await;
    assert_eq!(transcript(&app, &id).await["messages"].as_array().unwrap().len(), 4);

    let app = app.restart().await;
    let late = app.socket().await.command(&id, &taking(&question, "Left")).await;
    assert_eq!(late["error"]["code"], "question_closed", "also after another restart");
}

#[tokio::test]
async fn a_command_is_allowed_across_restarts_and_run_once() {
    let first = "[[tool run echo one >> ran.txt]][[tool run echo two >> ran.txt]]";
    let (app, id) = asked(&format!("{first}[[ask Enough? | Yes]][[say End.]]")).await;
    take(&app, &id, "allow_once", "question").await;
    let app = app.restart().await;
    take(&app, &id, "allow_once", "question").await;
    let app = app.restart().await;
    take(&app, &id, "Yes", "agent_end").await;
    assert_eq!(last_text(&transcript(&app, &id).await), "You chose **Yes**.End.");
    let ran = fs::read_to_string(app.workspace.path().join("ran.txt")).unwrap();
    assert_eq!(ran, "one\ntwo\n");
}

#[tokio::test]
async fn a_command_that_is_refused_after_a_restart_does_not_run() {
    let (app, id) = asked("[[tool run echo no >> ran.txt]][[say End.]]").await;
    take(&app, &id, "reject", "agent_end").await;
    assert_eq!(last_text(&transcript(&app, &id).await), "End.");
    assert!(!app.workspace.path().join("ran.txt").exists());
}

#[tokio::test]
async fn another_prompt_passes_a_kept_question_over() {
    let (app, id) = asked("[[ask Which? | Left | Right]]").await;
    let question = questions(&transcript(&app, &id).await).pop().unwrap();
    let after = app.converse(&id, "t2", "[[say Never mind.]]").await;
    assert_eq!(after["messages"][1]["state"], "interrupted");
    assert_eq!(
        (&after["status"], &after["session"]["open_questions"]),
        (&json!("idle"), &json!(0))
    );
    let late = app.socket().await.command(&id, &taking(&question, "Left")).await;
    assert_eq!(late["error"]["code"], "question_closed");
}

#[tokio::test]
async fn stop_closes_a_kept_question() {
    let (app, id) = asked("[[ask Which? | Left | Right]]").await;
    let mut socket = app.socket().await;
    assert_eq!(socket.command(&id, &json!({ "type": "cancel" })).await["ok"], true);
    let stopped = transcript(&app, &id).await;
    assert_eq!(
        (&stopped["status"], &stopped["messages"][1]["state"]),
        (&json!("idle"), &json!("cancelled"))
    );
    let again = socket.command(&id, &json!({ "type": "cancel" })).await;
    assert_eq!(again["error"]["code"], "nothing_runs");
    let app = app.restart().await;
    assert_eq!(row(&app, &id).await["status"], "idle");
}

#[tokio::test]
async fn a_branch_does_not_inherit_a_kept_question() {
    let (app, id) = asked("[[ask Which? | Left | Right]]").await;
    let branch = app.post(&format!("/api/sessions/{id}/fork"), &json!({})).await;
    let branch: Value = branch.json().await.unwrap();
    assert_eq!(branch["open_questions"], 0);
    assert_eq!(row(&app, &id).await["open_questions"], 1);
}

fn asking() -> Message {
    let option =
        |name: &str| Choice { option: name.into(), label: name.into(), tone: ChoiceTone::Neutral };
    let question = Question {
        request_id: throughline::domain::ids::RequestId::parse("q1").unwrap(),
        title: "Which?".into(),
        detail: String::new(),
        options: vec![option("Left"), option("Right")],
        answer: None,
    };
    let mut asking = answer("t1", MessageState::Waiting, "");
    asking.parts.push(Part::Question(question));
    asking
}

#[tokio::test]
async fn an_answer_that_a_crash_cut_short_is_restored_and_the_question_is_not_asked_again() {
    let rest = AtRest::new().await;
    let id = rest.session_id.to_string();
    rest.store(&[prompt("t1", "Do it."), asking()]).await;
    let words = submission("My answer to “Which?”: Left");
    rest.journal(&turn(&rest.session_id, "answer:t1", LONG_AGO, &[words]));
    let app = rest.start().await;
    let found = transcript(&app, &id).await;
    assert_eq!(found["messages"][1]["state"], "interrupted");
    assert_eq!(found["messages"][2]["recovered"], true);
    assert_eq!(found["messages"][3]["state"], "interrupted", "a mark where the answer would be");
    assert_eq!(found["session"]["open_questions"], 0);
}
