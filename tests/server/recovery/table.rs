//! Each row of the table: what the journal says and what the store says lead to one end.

use std::fs;

use serde_json::json;
use throughline::domain::message::{Message, MessageState};
use throughline::server::store::{NewPrompt, PromptInsert, Store};
use throughline::wire::journal::TurnEvent;

use super::{findings, messages, text_of};
use crate::at_rest::{
    AtRest, LONG_AGO, answer, completed, interrupted, prompt, steps_in, submission, turn,
};
use crate::test_app::TestApp;

/// Role, state, words, and whether recovery wrote the message.
type Shown = (&'static str, &'static str, &'static str, bool);

const RESTORED: Shown = ("user", "complete", "Do it.", true);
const KEPT: Shown = ("user", "complete", "Do it.", false);
const MARK: Shown = ("assistant", "interrupted", "", true);

fn events(names: &[&str]) -> Vec<TurnEvent> {
    let event = |name: &&str| match *name {
        "submitted" => submission("Do it."),
        "worker_started" => TurnEvent::WorkerStarted,
        "assistant_started" => TurnEvent::AssistantStarted,
        "completed" => completed(),
        _ => interrupted(),
    };
    names.iter().map(event).collect()
}

/// Starts a server on a turn with these steps and messages, twice, and expects these messages and
/// the same steps with these more.
async fn check(steps: &[&str], stored: &[Message], shown: &[Shown], more: &[&str]) {
    let rest = AtRest::new().await;
    rest.journal(&turn(&rest.session_id, "t1", LONG_AGO, &events(steps)));
    rest.store(stored).await;
    let (file, id) = (rest.journal_file(), rest.session_id.to_string());
    let app = rest.start().await;
    let found = messages(&app, &id).await;
    let summary: Vec<_> = found
        .iter()
        .map(|it| (&it["role"], &it["state"], text_of(it), it["recovered"] == true))
        .collect();
    let expected: Vec<_> = shown.iter().map(|it| (json!(it.0), json!(it.1), it.2, it.3)).collect();
    let expected: Vec<_> =
        expected.iter().map(|it| (&it.0, &it.1, it.2.to_owned(), it.3)).collect();
    assert_eq!(summary, expected, "{steps:?}");
    let bytes = fs::read(&file).unwrap();
    assert_eq!(steps_in(&bytes), [steps, more].concat(), "{steps:?} with {stored:?}");
    assert_eq!(findings(&app).await, [] as [serde_json::Value; 0], "{steps:?}");

    let app = app.restart().await;
    assert_eq!(messages(&app, &id).await, found, "a second recovery changed {steps:?}");
    assert_eq!(fs::read(&file).unwrap(), bytes);
}

#[tokio::test]
async fn a_turn_without_its_message_is_put_back_and_marked_interrupted() {
    let rows: [&[&str]; 3] = [
        &["submitted"],
        &["submitted", "worker_started"],
        &["submitted", "worker_started", "assistant_started"],
    ];
    for steps in rows {
        check(steps, &[], &[RESTORED, MARK], &["interrupted"]).await;
    }
}

#[tokio::test]
async fn a_turn_without_an_answer_is_marked_interrupted() {
    let stored = [prompt("t1", "Do it.")];
    check(&["submitted"], &stored, &[KEPT, MARK], &["interrupted"]).await;
    check(&["submitted", "worker_started"], &stored, &[KEPT, MARK], &["interrupted"]).await;
}

#[tokio::test]
async fn what_an_answer_had_said_is_kept_and_shown_as_unfinished() {
    for (said, steps) in [
        ("", ["submitted", "worker_started"].as_slice()),
        ("Half of", &["submitted", "worker_started"]),
        ("Half of", &["submitted", "worker_started", "assistant_started"]),
    ] {
        let stored = [prompt("t1", "Do it."), answer("t1", MessageState::Streaming, said)];
        let partial = ("assistant", "interrupted", said, false);
        check(steps, &stored, &[KEPT, partial], &["interrupted"]).await;
    }
}

#[tokio::test]
async fn a_finished_answer_completes_its_turn_from_wherever_the_journal_stands() {
    let stored = [prompt("t1", "Do it."), answer("t1", MessageState::Complete, "Done.")];
    let shown = [KEPT, ("assistant", "complete", "Done.", false)];
    let all = ["submitted", "worker_started", "assistant_started", "completed"];
    for known in 1..all.len() {
        check(&all[..known], &stored, &shown, &all[known..]).await;
    }
}

#[tokio::test]
async fn an_answer_that_ended_otherwise_ends_its_turn_as_interrupted() {
    for (state, word) in [
        (MessageState::Cancelled, "cancelled"),
        (MessageState::Failed, "failed"),
        (MessageState::Crashed, "crashed"),
    ] {
        let stored = [prompt("t1", "Do it."), answer("t1", state, "So far")];
        let shown = [KEPT, ("assistant", word, "So far", false)];
        check(&["submitted", "worker_started"], &stored, &shown, &["interrupted"]).await;
    }
}

#[tokio::test]
async fn a_turn_that_has_its_end_is_left_alone() {
    let all = ["submitted", "worker_started", "assistant_started", "completed"];
    let stored = [prompt("t1", "Do it."), answer("t1", MessageState::Complete, "Done.")];
    check(&all, &stored, &[KEPT, ("assistant", "complete", "Done.", false)], &[]).await;
    check(&all, &[], &[], &[]).await;
    let stored = [prompt("t1", "Do it."), answer("t1", MessageState::Interrupted, "Half")];
    let shown = [KEPT, ("assistant", "interrupted", "Half", false)];
    check(&["submitted", "interrupted"], &stored, &shown, &[]).await;
}

#[tokio::test]
async fn the_lost_second_of_two_equal_prompts_is_found_by_its_turn() {
    let rest = AtRest::new().await;
    let all = events(&["submitted", "worker_started", "assistant_started", "completed"]);
    let one = [&[submission("continue")], &all[1..]].concat();
    rest.journal(&turn(&rest.session_id, "t1", LONG_AGO, &one));
    rest.journal(&turn(&rest.session_id, "t2", LONG_AGO + 60.0, &[submission("continue")]));
    rest.store(&[prompt("t1", "continue"), answer("t1", MessageState::Complete, "Done.")]).await;
    let id = rest.session_id.to_string();
    let app = rest.start().await;
    let found = messages(&app, &id).await;
    let turns: Vec<_> = found.iter().map(|it| (it["turn_id"].as_str(), text_of(it))).collect();
    let expected = [("t1", "continue"), ("t1", "Done."), ("t2", "continue"), ("t2", "")];
    assert_eq!(turns, expected.map(|(turn, text)| (Some(turn), text.to_owned())));
    assert_eq!(found[2]["recovered"], true);
    assert_eq!(found[2]["created_at"], "2023-11-14T22:14:20.250Z", "when it was sent");
    let row = app.get_json(&format!("/api/sessions/{id}")).await;
    assert_eq!((&row["status"], &row["session"]["unread"]), (&json!("error"), &json!(true)));
}

#[tokio::test]
async fn a_lost_message_comes_back_with_its_files() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let stored = app.client.post(format!("{}/api/blobs", app.base)).body("hello").send().await;
    let blob: serde_json::Value = stored.unwrap().json().await.unwrap();
    let rest = AtRest::stop(app, &id).await;
    let file =
        json!({ "blob": blob["blob"], "name": "a.txt", "media_type": "text/plain", "size": 5 });
    let line = json!({
        "version": 1, "event": "submitted", "turn_id": "t1", "session_id": id, "role": "user",
        "created_at": LONG_AGO, "content": "Look.", "attachments": [file], "workspace": "/",
    });
    rest.plant(&format!("{id}.jsonl"), format!("{line}\n").as_bytes());
    let app = rest.start().await;
    let found = messages(&app, &id).await;
    assert_eq!(found[0]["parts"][1]["name"], "a.txt");
    assert_eq!(
        app.get_text(&format!("/api/blobs/{}", blob["blob"].as_str().unwrap())).await,
        "hello"
    );
}

#[tokio::test]
async fn a_lost_message_comes_back_where_its_conversation_goes_on() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let old = app.converse(&id, "t0", "[[compress]]").await;
    let tip = old["continuation"].as_str().unwrap().to_owned();
    let rest = AtRest::stop(app, &id).await;
    rest.journal(&turn(&rest.session_id, "t1", LONG_AGO, &[submission("Lost.")]));
    let app = rest.start().await;
    let found = messages(&app, &tip).await;
    let at = found.iter().position(|it| it["turn_id"] == "t1").expect("the living row has it");
    assert_eq!(text_of(&found[at]), "Lost.");
    assert_eq!(found[at + 1]["state"], "interrupted");
    assert_eq!(findings(&app).await, [] as [serde_json::Value; 0]);
}

/// Version 0.1 stored a prompt while its journal line was being synced, so a power loss could take
/// either.
#[tokio::test]
async fn a_prompt_that_only_the_store_kept_is_written_down_and_marked_interrupted() {
    let rest = AtRest::new().await;
    let prompt = prompt("t1", "Do it.");
    let session_id = rest.session_id.clone();
    let new = NewPrompt { session_id: session_id.clone(), message: prompt, answered: None };
    let store = Store::open(rest.data.path()).await.unwrap();
    let stored = store.insert_prompts(vec![new]).await.unwrap();
    assert_eq!(stored, [PromptInsert::Inserted { session_id }]);
    store.close().await;

    let (file, id) = (rest.journal_file(), rest.session_id.to_string());
    let app = rest.start().await;
    let found = messages(&app, &id).await;
    let states: Vec<_> = found.iter().map(|it| (&it["role"], &it["state"], text_of(it))).collect();
    let (user, agent) = (json!("user"), json!("assistant"));
    let (whole, cut) = (json!("complete"), json!("interrupted"));
    assert_eq!(states, [(&user, &whole, "Do it.".into()), (&agent, &cut, String::new())]);
    let bytes = fs::read(&file).unwrap();
    assert_eq!(steps_in(&bytes), ["submitted", "interrupted"]);
    assert_eq!(findings(&app).await, [] as [serde_json::Value; 0]);
    let again = app.submit(&id, "t1", "Do it.").await;
    let receipt: serde_json::Value = again.json().await.unwrap();
    assert_eq!((&receipt["accepted"], &receipt["state"]), (&json!(false), &cut));

    let app = app.restart().await;
    assert_eq!(messages(&app, &id).await, found, "a second recovery changed something");
    assert_eq!(fs::read(&file).unwrap(), bytes);
}
