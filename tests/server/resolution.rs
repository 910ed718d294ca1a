//! Every door leads an id to the same row.

use reqwest::StatusCode;
use serde_json::{Value, json};
use throughline::domain::ids::SessionId;

use crate::test_app::TestApp;

/// Compresses a conversation a number of times and gives the ids of its rows, oldest first.
async fn chain(app: &TestApp, parts: usize) -> Vec<String> {
    let mut ids = vec![app.new_session().await];
    for part in 1..parts {
        let id = ids.last().unwrap();
        let old = app.converse(id, &format!("{id}-{part}"), "[[compress]]").await;
        ids.push(old["continuation"].as_str().unwrap().to_owned());
    }
    ids
}

async fn resolve(app: &TestApp, id: &str, query: &str) -> Value {
    app.get_json(&format!("/api/sessions/{id}/resolve{query}")).await
}

#[tokio::test]
async fn every_row_of_a_lineage_leads_to_its_tip() {
    let app = TestApp::start().await;
    let ids = chain(&app, 4).await;
    let tip = ids.last().unwrap();
    for (place, id) in ids.iter().enumerate() {
        let resolution = resolve(&app, id, "").await;
        let expected = json!({
            "outcome": "open", "requested": id, "session_id": tip,
            "canonical_visible_session_id": tip, "hops": ids.len() - 1 - place, "anomalies": [],
        });
        assert_eq!(resolution, expected);
    }
}

#[tokio::test]
async fn an_earlier_part_can_be_inspected_and_names_the_conversation() {
    let app = TestApp::start().await;
    let ids = chain(&app, 2).await;
    let resolution = resolve(&app, &ids[0], "?inspect=true").await;
    assert_eq!(resolution["outcome"], "inspect");
    assert_eq!(resolution["session_id"], ids[0]);
    assert_eq!(resolution["canonical_visible_session_id"], ids[1]);
}

#[tokio::test]
async fn what_does_not_exist_or_is_no_id_is_answered_too() {
    let app = TestApp::start().await;
    assert_eq!(resolve(&app, "unknown", "").await["outcome"], "missing");
    assert_eq!(resolve(&app, "a%20b", "").await["outcome"], "invalid");
}

#[tokio::test]
async fn the_rows_of_a_list_and_the_resolver_agree() {
    let app = TestApp::start().await;
    chain(&app, 3).await;
    chain(&app, 1).await;
    let page = app.get_json("/api/sessions?view=all").await;
    for row in page["sessions"].as_array().unwrap() {
        let id = row["session_id"].as_str().unwrap();
        let resolution = resolve(&app, id, "").await;
        assert_eq!(row["canonical_visible_session_id"], resolution["session_id"]);
    }
}

#[tokio::test]
async fn a_newer_fork_is_never_taken_for_the_conversation() {
    let app = TestApp::start().await;
    let ids = chain(&app, 2).await;
    for id in &ids {
        let response = app.post(&format!("/api/sessions/{id}/fork"), &json!({})).await;
        assert_eq!(response.status(), StatusCode::CREATED);
        let fork: Value = response.json().await.unwrap();
        assert_eq!((&fork["relation"], &fork["parent_session_id"]), (&json!("fork"), &json!(id)));
        let own = fork["session_id"].as_str().unwrap();
        assert_eq!(resolve(&app, own, "").await["session_id"], own);
    }
    assert_eq!(resolve(&app, &ids[0], "").await["session_id"], ids[1]);
}

#[tokio::test]
async fn a_fork_holds_what_was_said_up_to_its_message_and_no_more() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    for number in 0..3 {
        app.converse(&id, &format!("t{number}"), &format!("[[say answer {number}]]")).await;
    }
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    let message_id = &transcript["messages"][3]["message_id"];
    let address = format!("/api/sessions/{id}/fork");
    let fork: Value =
        app.post(&address, &json!({ "message_id": message_id })).await.json().await.unwrap();
    let fork_id = fork["session_id"].as_str().unwrap();
    let copied = app.get_json(&format!("/api/sessions/{fork_id}")).await;
    let texts = |transcript: &Value| {
        let messages = transcript["messages"].as_array().unwrap().clone();
        messages.into_iter().map(|message| message["parts"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(texts(&copied), texts(&transcript)[..4]);
    let after = app.converse(fork_id, "branch", "[[say elsewhere]]").await;
    assert_eq!(after["messages"].as_array().unwrap().len(), 6);
    let original = app.get_json(&format!("/api/sessions/{id}")).await;
    assert_eq!(original["messages"], transcript["messages"], "the original is untouched");
    let nowhere = app.post(&address, &json!({ "message_id": "unknown" })).await;
    assert_eq!(nowhere.status(), StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn the_archive_is_a_page_of_its_own_and_never_entered_by_accident() {
    let app = TestApp::start().await;
    let ids = chain(&app, 2).await;
    let page = app.get_text(&format!("/archive/{}", ids[0])).await;
    assert!(page.contains("earlier part of a conversation"));
    assert!(page.contains(&format!("href=\"/session/{}\"", ids[1])));
    assert!(!page.contains("<textarea"), "nothing can be written there");
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let client = client.build().unwrap();
    let live = client.get(format!("{}/archive/{}", app.base, ids[1])).send().await.unwrap();
    assert_eq!(live.headers()["location"], format!("/session/{}", ids[1]));
}

#[tokio::test]
async fn a_conversation_that_fills_its_context_is_compressed_by_itself() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    app.submit(&id, "t1", "[[say nearly full]][[usage 10 10 7600 8000]]").await;
    let events = socket.until_event("compressed").await;
    let tip = events.last().unwrap()["event"]["continuation"].as_str().unwrap().to_owned();
    assert_eq!(resolve(&app, &id, "").await["session_id"], tip);
    let calm = app.new_session().await;
    app.converse(&calm, "t2", "[[say room enough]][[usage 10 10 4000 8000]]").await;
    assert_eq!(resolve(&app, &calm, "").await["session_id"], calm);
}

#[tokio::test]
async fn only_the_rows_of_one_lineage_are_read() {
    let app = TestApp::start().await;
    let ids = chain(&app, 3).await;
    chain(&app, 2).await;
    app.new_session().await;
    let store = throughline::server::store::Store::open(app.data.path()).await.unwrap();
    let rows = store.lineage_rows(&SessionId::parse(&ids[0]).unwrap()).await.unwrap();
    let mut found: Vec<_> = rows.iter().map(|row| row.session_id.to_string()).collect();
    found.sort();
    assert_eq!(found, ids, "minted ids sort by time");
}
