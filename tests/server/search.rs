use serde_json::Value;
use tempfile::TempDir;

use crate::plant;
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

/// Plants conversations of messages, oldest first, as `name: text | text`.
async fn planted(lines: &[&str]) -> TestApp {
    let names: Vec<_> = lines.iter().map(|line| line.split(':').next().unwrap()).collect();
    let data = plant::planted(&names.join(" ")).await;
    let mut statements = String::new();
    for line in lines {
        let (name, texts) = line.split_once(':').unwrap();
        for (place, text) in texts.split('|').enumerate() {
            statements.push_str(&message(name, place + 1, text.trim()));
        }
    }
    plant::run(&data, &statements).await;
    TestApp::start_with(data, TempDir::new().unwrap()).await
}

fn message(session: &str, position: usize, text: &str) -> String {
    format!(
        "INSERT INTO messages (message_id, session_id, position, role, state, parts, created_at) \
         VALUES ('{session}{position}', '{session}', {position}, 'user', 'complete', '[]', 1); \
         INSERT INTO search_entries (session_id, message_id) VALUES ('{session}', \
         '{session}{position}'); \
         INSERT INTO search (rowid, words) VALUES (last_insert_rowid(), '{text}');"
    )
}

async fn found(app: &TestApp, words: &str) -> String {
    let hits = hits(app, words).await;
    hits.iter()
        .map(|hit| hit["session"]["session_id"].as_str().unwrap())
        .collect::<Vec<_>>()
        .join(" ")
}

#[tokio::test]
async fn the_best_answer_comes_first_and_of_equals_the_newest() {
    let app = planted(&[
        "titled: nothing here",
        "often: a heron and a heron and a heron stood near the reeds",
        "once: a heron and a crane and a stork stood near the reeds",
        "begun: a heronry and a crane and a stork stood near the reeds",
        "later: a heron and a crane and a stork stood near the reeds",
    ])
    .await;
    plant::run(&app.data, "UPDATE sessions SET title = 'Heron' WHERE session_id = 'titled'").await;
    assert_eq!(found(&app, "heron").await, "titled often later once begun");
    assert_eq!(found(&app, "heron ").await, "titled often later once", "a finished word is whole");
    assert_eq!(found(&app, "reeds h").await, "often later begun once");
    for typed in ["h", "he", "her", "hero", "heron", "heronr", "heronry"] {
        assert!(found(&app, typed).await.contains("begun"), "{typed}");
    }
}

#[tokio::test]
async fn one_long_conversation_does_not_crowd_out_the_others() {
    let long = vec!["a grebe"; 900].join("|");
    let app = planted(&["old: a grebe", &format!("long: {long}"), "young: a grebe"]).await;
    let expected = "young long old";
    assert_eq!(found(&app, "grebe").await, expected);
    let gone = app.client.delete(format!("{}/api/sessions/long", app.base)).send().await.unwrap();
    assert_eq!(gone.status(), 204);
    assert_eq!(found(&app, "grebe").await, "young old", "nor when it was deleted");
    let listed = app.get_json("/api/sessions?q=grebe").await;
    let rows = listed["sessions"].as_array().unwrap();
    assert_eq!(rows.len(), 2, "the same through the list's own address");
}
