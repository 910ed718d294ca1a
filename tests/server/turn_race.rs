//! One press of Send that arrives by several ways at once, or again later, is one turn.

use std::fs;

use futures::future::join_all;
use reqwest::StatusCode;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::at_rest::steps_in;
use crate::test_app::{TestApp, TestSocket};

const ROUNDS: usize = 30;

fn prompt(turn_id: &str, content: &str) -> Value {
    json!({ "type": "prompt", "turn_id": turn_id, "content": content })
}

/// Reads what each receipt or refusal says: accepted, known or the code of the failure.
fn verdict(receipt: &Value, error: &Value) -> String {
    match (receipt["accepted"].as_bool(), error["code"].as_str()) {
        (Some(true), _) => "accepted".to_owned(),
        (Some(false), _) => "known".to_owned(),
        (None, code) => code.unwrap().to_owned(),
    }
}

async fn by_socket(socket: &mut TestSocket, id: &str, turn_id: &str, content: &str) -> String {
    let reply = socket.command(id, &prompt(turn_id, content)).await;
    verdict(&reply["data"], &reply["error"])
}

async fn by_rest(app: &TestApp, id: &str, turn_id: &str, content: &str) -> String {
    let body: Value = app.submit(id, turn_id, content).await.json().await.unwrap();
    verdict(&body, &body["error"])
}

/// Waits until a turn has its end, and gives the whole transcript.
async fn settled(app: &TestApp, id: &str) -> Value {
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(20);
    loop {
        let report = app.get_json("/api/session/recovery/audit").await;
        let transcript = app.get_json(&format!("/api/sessions/{id}?limit=200")).await;
        if report["under_way"] == 0 && transcript["status"] == "idle" {
            return transcript;
        }
        assert!(std::time::Instant::now() < patience, "it does not come to rest: {transcript}");
        tokio::task::yield_now().await;
    }
}

/// Counts what there is of one turn: messages, answers, and lines that say it was submitted.
fn count(app: &TestApp, id: &str, transcript: &Value, turn_id: &str) -> [usize; 3] {
    let messages = transcript["messages"].as_array().unwrap();
    let of = |role: &str| {
        messages.iter().filter(|it| it["turn_id"] == turn_id && it["role"] == role).count()
    };
    let file = app.data.path().join(format!("_turn_journal/{id}.jsonl"));
    let bytes = fs::read(file).unwrap();
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let about = lines.filter(|line| {
        let line: Value = serde_json::from_slice(line).unwrap();
        line["turn_id"] == turn_id && line["event"] == "submitted"
    });
    [of("user"), of("assistant"), about.count()]
}

#[tokio::test(flavor = "multi_thread")]
async fn two_sockets_and_a_retry_make_one_message_one_answer_and_one_line() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let (mut one, mut two) = (app.socket().await, app.socket().await);
    for round in 0..ROUNDS {
        let (turn_id, content) = (format!("t{round}"), format!("[[say round {round}]]"));
        let verdicts: [String; 3] = tokio::join!(
            by_socket(&mut one, &id, &turn_id, &content),
            by_socket(&mut two, &id, &turn_id, &content),
            by_rest(&app, &id, &turn_id, &content),
        )
        .into();
        let accepted = verdicts.iter().filter(|it| *it == "accepted").count();
        let known = verdicts.iter().filter(|it| *it == "known").count();
        assert_eq!((accepted, known), (1, 2), "{verdicts:?}");
    }
    let transcript = settled(&app, &id).await;
    for round in 0..ROUNDS {
        assert_eq!(count(&app, &id, &transcript, &format!("t{round}")), [1, 1, 1], "{round}");
    }
    assert_eq!(transcript["messages"].as_array().unwrap().len(), 2 * ROUNDS);
}

#[tokio::test(flavor = "multi_thread")]
async fn racing_turns_of_one_id_and_two_contents_let_one_content_in() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let (mut one, mut two) = (app.socket().await, app.socket().await);
    for round in 0..ROUNDS {
        let turn_id = format!("t{round}");
        let (this, that) = ("[[say this]]", "[[say that]]");
        let verdicts: [String; 4] = tokio::join!(
            by_socket(&mut one, &id, &turn_id, this),
            by_socket(&mut two, &id, &turn_id, that),
            by_rest(&app, &id, &turn_id, this),
            by_rest(&app, &id, &turn_id, that),
        )
        .into();
        let mut sorted = verdicts.clone();
        sorted.sort();
        let expected = ["accepted", "known", "turn_conflict", "turn_conflict"];
        assert_eq!(sorted, expected, "{verdicts:?}");
        assert_eq!(verdicts[0] == "turn_conflict", verdicts[2] == "turn_conflict", "{verdicts:?}");
    }
    let transcript = settled(&app, &id).await;
    for round in 0..ROUNDS {
        assert_eq!(count(&app, &id, &transcript, &format!("t{round}")), [1, 1, 1], "{round}");
    }
    let refused = app.submit(&id, "t0", "[[say neither]]").await;
    assert_eq!(refused.status(), StatusCode::CONFLICT);
}

#[tokio::test]
async fn a_finished_turn_sent_again_is_told_to_be_completed_also_after_a_restart() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "[[say once]]").await;
    app.converse(&id, "t2", "[[error no]]").await;
    let check = async |app: &TestApp| {
        for (turn_id, content, state) in
            [("t1", "[[say once]]", "completed"), ("t2", "[[error no]]", "interrupted")]
        {
            let again = app.submit(&id, turn_id, content).await;
            assert_eq!(again.status(), StatusCode::ACCEPTED);
            let receipt: Value = again.json().await.unwrap();
            let told = (&receipt["accepted"], &receipt["state"], &receipt["session_id"]);
            assert_eq!(told, (&json!(false), &json!(state), &json!(id)));
        }
        let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
        assert_eq!(transcript["messages"].as_array().unwrap().len(), 4);
    };
    check(&app).await;
    let app = app.restart().await;
    check(&app).await;
}

#[tokio::test]
async fn a_turn_that_a_stop_cut_short_is_known_when_it_is_sent_again() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    app.submit(&id, "t1", "[[say Halfway.]][[hang]]").await;
    socket.until_event("message_delta").await;
    app.submit(&id, "t2", "[[say Never begun.]]").await;
    drop(socket);
    let app = app.restart().await;
    for (turn_id, content) in [("t1", "[[say Halfway.]][[hang]]"), ("t2", "[[say Never begun.]]")] {
        let receipt: Value = app.submit(&id, turn_id, content).await.json().await.unwrap();
        assert_eq!(
            (&receipt["accepted"], &receipt["state"]),
            (&json!(false), &json!("interrupted"))
        );
    }
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    for turn_id in ["t1", "t2"] {
        assert_eq!(count(&app, &id, &transcript, turn_id), [1, 1, 1]);
    }
}

#[tokio::test]
async fn a_turn_accepted_by_an_earlier_part_is_the_same_turn_in_the_later_one() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "[[say before]]").await;
    let old = app.converse(&id, "t2", "[[compress]]").await;
    let tip = old["continuation"].as_str().unwrap();
    for target in [id.as_str(), tip] {
        let receipt: Value = app.submit(target, "t1", "[[say before]]").await.json().await.unwrap();
        assert_eq!(receipt["accepted"], false, "{target}: {receipt}");
        assert_eq!((&receipt["state"], &receipt["session_id"]), (&json!("completed"), &json!(id)));
    }
    let other = app.submit(tip, "t1", "[[say other]]").await;
    assert_eq!(other.status(), StatusCode::CONFLICT);
    let stranger = app.new_session().await;
    let elsewhere = app.submit(&stranger, "t1", "[[say before]]").await;
    assert_eq!(elsewhere.status(), StatusCode::CONFLICT, "another conversation is another turn");
    let fresh = app.submit(&id, "t3", "[[say late]]").await;
    let body: Value = fresh.json().await.unwrap();
    assert_eq!(body["error"]["code"], "wrong_target", "a new turn belongs where it goes on");
}

/// Sends a whole request and hangs up, with no answer read.
async fn send_and_hang_up(app: &TestApp, turn: &Value, patience: u32) {
    let address = app.base.strip_prefix("http://").unwrap();
    let body = turn.to_string();
    let request = format!(
        "POST /api/chat/start HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    for _ in 0..patience {
        tokio::task::yield_now().await;
    }
}

/// A person whose connection breaks has sent their turn all the same: sent again, it is one turn,
/// and it is answered.
#[tokio::test(flavor = "multi_thread")]
async fn a_sender_who_hangs_up_leaves_no_turn_half_way() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let rounds = 60;
    for round in 0..rounds {
        let (turn_id, content) = (format!("t{round}"), format!("[[say round {round}]]"));
        let turn = json!({ "turn_id": turn_id, "session_id": id, "content": content });
        send_and_hang_up(&app, &turn, round * 40).await;
        let verdict = by_rest(&app, &id, &turn_id, &content).await;
        assert!(["accepted", "known"].contains(&verdict.as_str()), "{verdict}");
    }
    let transcript = settled(&app, &id).await;
    for round in 0..rounds {
        assert_eq!(count(&app, &id, &transcript, &format!("t{round}")), [1, 1, 1], "{round}");
    }
    let file = app.data.path().join(format!("_turn_journal/{id}.jsonl"));
    let steps = steps_in(&fs::read(file).unwrap());
    assert_eq!(steps.len(), 4 * rounds as usize, "every turn went its whole way");
}

/// The same for sixteen at once, whose turns share their batches.
#[tokio::test(flavor = "multi_thread")]
async fn senders_who_all_hang_up_leave_no_turn_half_way() {
    let app = TestApp::start().await;
    let sessions = join_all((0..16).map(|_| app.new_session())).await;
    let rounds = 10;
    for round in 0..rounds {
        let turn_id = |id: &str| format!("{id}-{round}");
        let content = format!("[[say round {round}]]");
        let sent = sessions.iter().map(|id| {
            let turn = json!({ "turn_id": turn_id(id), "session_id": id, "content": content });
            let app = &app;
            async move { send_and_hang_up(app, &turn, round * 60).await }
        });
        join_all(sent).await;
        for id in &sessions {
            let verdict = by_rest(&app, id, &turn_id(id), &content).await;
            assert!(["accepted", "known"].contains(&verdict.as_str()), "{verdict}");
        }
    }
    for id in &sessions {
        let transcript = settled(&app, id).await;
        for round in 0..rounds {
            assert_eq!(count(&app, id, &transcript, &format!("{id}-{round}")), [1, 1, 1]);
        }
    }
    println!(
        "{} turns of senders that hung up, 0 lost, 0 doubled",
        sessions.len() * rounds as usize
    );
}
