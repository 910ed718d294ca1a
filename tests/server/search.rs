use serde_json::Value;

use crate::test_app::TestApp;

async fn hits(app: &TestApp, words: &str) -> Vec<Value> {
    let found = app.client.get(format!("{}/api/search", app.base)).query(&[("q", words)]);
    let found: Value = found.send().await.unwrap().json().await.unwrap();
    found.as_array().expect("a list, never null").clone()
}

fn marked(hit: &Value) -> Vec<&str> {
    let pieces = hit["snippet"].as_array().unwrap().iter();
    pieces
        .filter(|piece| piece["hit"] == true)
        .map(|piece| piece["text"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn words_of_prompts_answers_and_titles_are_found() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let transcript = app.converse(&id, "t1", "[[say The heron stood still.]]").await;
    let found = hits(&app, "HERON stood").await;
    assert_eq!(found.len(), 1, "one conversation, once");
    assert_eq!(found[0]["session"]["session_id"], id.as_str());
    assert_eq!(marked(&found[0]), ["heron", "stood"]);
    let holders = transcript["messages"].as_array().unwrap().iter();
    let ids: Vec<_> = holders.map(|message| message["message_id"].clone()).collect();
    assert!(found[0]["message_id"].is_null() || ids.contains(&found[0]["message_id"]));

    let patch = serde_json::json!({ "title": "Birds of the river" });
    app.client.patch(format!("{}/api/sessions/{id}", app.base)).json(&patch).send().await.unwrap();
    let by_title = hits(&app, "birds riv").await;
    assert_eq!(by_title[0]["message_id"], Value::Null);
    assert_eq!(marked(&by_title[0]), ["Birds", "river"]);
}

#[tokio::test]
async fn nothing_a_person_can_type_is_an_error() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "[[say naïve café]]").await;
    for words in
        ["", "  ", "\"", "a AND", "NEAR(", "*", "col:x", "-", "'; DROP TABLE x", "\u{0}", "🦀"]
    {
        hits(&app, words).await;
    }
    assert_eq!(hits(&app, "cafe").await.len(), 1, "accents do not matter");
    assert_eq!(hits(&app, "nai").await.len(), 1, "the last word may be unfinished");
    assert_eq!(hits(&app, "nai ").await.len(), 0, "unless it is finished");
}

#[tokio::test]
async fn a_hit_in_an_earlier_part_names_the_conversation_it_belongs_to() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "[[say a kingfisher]]").await;
    let old = app.converse(&id, "t2", "[[compress]]").await;
    let found = hits(&app, "kingfisher").await;
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["session"]["canonical_visible_session_id"], old["continuation"]);
}

#[tokio::test]
async fn a_deleted_conversation_is_found_nowhere_and_can_be_brought_back() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "[[say an osprey]]").await;
    let old = app.converse(&id, "t2", "[[compress]]").await;
    let tip = old["continuation"].as_str().unwrap().to_owned();
    let address = format!("{}/api/sessions/{tip}", app.base);
    assert_eq!(app.client.delete(&address).send().await.unwrap().status(), 204);
    assert_eq!(app.client.delete(&address).send().await.unwrap().status(), 404);
    for gone in [&id, &tip] {
        assert_eq!(app.get(&format!("/api/sessions/{gone}")).await.status(), 404);
        let resolution = app.get_json(&format!("/api/sessions/{gone}/resolve")).await;
        assert_eq!(resolution["outcome"], "missing");
        assert_eq!(app.submit(gone, "t9", "hello?").await.status(), 404);
    }
    assert_eq!(hits(&app, "osprey").await.len(), 0);
    let list = app.get_json("/api/sessions?view=all").await;
    assert_eq!(list["sessions"].as_array().unwrap().len(), 0);

    let restored = app.post(&format!("/api/sessions/{tip}/restore"), &Value::Null).await;
    assert_eq!(restored.status(), 200);
    assert_eq!(hits(&app, "osprey").await.len(), 1);
    let resolution = app.get_json(&format!("/api/sessions/{id}/resolve")).await;
    assert_eq!(resolution["session_id"], tip.as_str());
}

#[tokio::test]
async fn what_nobody_saw_is_unread_until_somebody_looks_and_moves_along() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let row =
        async |id: &str| app.get_json(&format!("/api/sessions/{id}")).await["session"].clone();

    app.converse(&id, "t1", "[[say seen]]").await;
    assert_eq!(row(&id).await["unread"], false, "somebody was looking");

    let mut list = app.socket().await;
    app.submit(&id, "t2", "[[say unseen]]").await;
    let shown = loop {
        let frame = list.until("sessions_changed").await;
        let rows = frame["changed"].as_array().unwrap().clone();
        if let Some(row) = rows.into_iter().find(|row| row["unread"] == true) {
            break row;
        }
    };
    assert_eq!(shown["session_id"], id.as_str());

    let old = app.converse(&id, "t3", "[[compress]]").await;
    let tip = old["continuation"].as_str().unwrap();
    assert_eq!(row(tip).await["unread"], true, "the mark moves along");
    assert_eq!(row(&id).await["unread"], false);

    let response = list.command(tip, &serde_json::json!({ "type": "seen" })).await;
    assert_eq!(response["ok"], true);
    assert_eq!(row(tip).await["unread"], false);
}
