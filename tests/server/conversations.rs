use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::test_app::{TestApp, last_text};

#[tokio::test]
async fn an_empty_list_is_a_list() {
    let app = TestApp::start().await;
    let page = app.get_json("/api/sessions").await;
    assert_eq!(page, json!({ "sessions": [], "next_cursor": null }));
}

#[tokio::test]
async fn a_new_conversation_is_listed_with_its_resolution_fields() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let page = app.get_json("/api/sessions").await;
    let row = &page["sessions"][0];
    assert_eq!(row["session_id"], id);
    assert_eq!(row["canonical_visible_session_id"], id);
    assert_eq!(row["_lineage_root_id"], id);
    assert_eq!(row["_lineage_tip_id"], id);
    assert_eq!(row["_compression_segment_count"], 1);
    assert_eq!(row["parent_session_id"], Value::Null);
}

#[tokio::test]
async fn a_conversation_is_named_after_its_first_prompt_and_keeps_that_name() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "Fix the build\nplease").await;
    let transcript = app.converse(&id, "t2", "And the tests").await;
    assert_eq!(transcript["session"]["title"], "Fix the build");
}

#[tokio::test]
async fn pages_of_the_list_follow_each_other_without_gap_or_repeat() {
    let app = TestApp::start().await;
    let mut made = Vec::new();
    for _ in 0..7 {
        made.push(app.new_session().await);
    }
    made.reverse();
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = app.get_json(&format!("/api/sessions?limit=3{cursor}")).await;
        for row in page["sessions"].as_array().unwrap() {
            seen.push(row["session_id"].as_str().unwrap().to_owned());
        }
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!(seen, made);
}

#[tokio::test]
async fn pages_of_messages_lead_back_to_the_first() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    for number in 0..4 {
        app.converse(&id, &format!("t{number}"), &format!("[[say answer {number}]]")).await;
    }
    let newest = app.get_json(&format!("/api/sessions/{id}?limit=3")).await;
    let messages = newest["messages"].as_array().unwrap();
    assert_eq!((messages.len(), &newest["has_earlier"]), (3, &json!(true)));
    let before = messages[0]["message_id"].as_str().unwrap();
    let older = app.get_json(&format!("/api/sessions/{id}?before={before}&limit=10")).await;
    assert_eq!(older["messages"].as_array().unwrap().len(), 5);
    assert_eq!(older["has_earlier"], false);
}

#[tokio::test]
async fn title_pin_and_archive_can_be_changed() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let patch = json!({ "title": "  My   thread ", "pinned": true });
    let address = format!("{}/api/sessions/{id}", app.base);
    let response = app.client.patch(&address).json(&patch).send().await.unwrap();
    let row: Value = response.json().await.unwrap();
    assert_eq!((&row["title"], &row["pinned"]), (&json!("My thread"), &json!(true)));
    let archive = json!({ "archived": true });
    app.client.patch(&address).json(&archive).send().await.unwrap();
    assert_eq!(app.get_json("/api/sessions").await["sessions"], json!([]));
    let all = app.get_json("/api/sessions?view=all").await;
    assert_eq!(all["sessions"][0]["title"], "My thread");
}

#[tokio::test]
async fn a_folder_outside_the_allowed_one_is_refused() {
    let app = TestApp::start().await;
    for folder in ["/", "..", "../..", "/etc", "missing", "notes.txt"] {
        let response = app.post("/api/sessions/new", &json!({ "workspace": folder })).await;
        assert_eq!(response.status(), StatusCode::UNPROCESSABLE_ENTITY, "{folder}");
    }
    std::fs::create_dir(app.workspace.path().join("inside")).unwrap();
    let response = app.post("/api/sessions/new", &json!({ "workspace": "inside" })).await;
    assert_eq!(response.status(), StatusCode::CREATED);
}

#[tokio::test]
async fn compression_makes_a_continuation_and_old_addresses_lead_to_it() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "remember the milk").await;
    let old = app.converse(&id, "t2", "[[compress]]").await;
    let new = old["continuation"].as_str().unwrap();
    assert_eq!(old["session"]["pre_compression_snapshot"], true);
    assert_eq!(old["session"]["canonical_visible_session_id"], new);

    let tip = app.get_json(&format!("/api/sessions/{new}")).await;
    assert_eq!(tip["session"]["parent_session_id"], id);
    assert_eq!(tip["session"]["relation"], "continuation");
    assert_eq!(tip["session"]["_compression_segment_count"], 2);
    assert_eq!(tip["session"]["title"], "remember the milk");
    assert!(last_text(&tip).contains("milk"), "the summary says what it was about");
    assert_eq!(tip["messages"][0]["turn_id"], "t1", "and the earlier part is above it");

    let list = app.get_json("/api/sessions").await;
    let rows = list["sessions"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "one conversation is one row");
    assert_eq!(rows[0]["session_id"], new);

    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let client = client.build().unwrap();
    for address in
        [format!("/session/{id}"), format!("/?session={id}"), format!("/?session_id={id}")]
    {
        let response = client.get(format!("{}{address}", app.base)).send().await.unwrap();
        assert!(response.status().is_redirection(), "{address}");
        assert_eq!(response.headers()["location"], format!("/session/{new}"), "{address}");
    }
}

#[tokio::test]
async fn a_conversation_reads_on_past_its_divider_into_the_earlier_parts() {
    let app = TestApp::start().await;
    let mut id = app.new_session().await;
    let mut expected = Vec::new();
    for part in 0..3 {
        for number in 0..3 {
            let word = format!("part{part}number{number}");
            app.converse(&id, &format!("t{part}{number}"), &format!("[[say {word}]]")).await;
            expected.push(word);
        }
        let old = app.converse(&id, &format!("c{part}"), "[[compress]]").await;
        id = old["continuation"].as_str().unwrap().to_owned();
    }
    let mut said = Vec::new();
    let (mut before, mut pages) = (String::new(), 0);
    loop {
        let page = app.get_json(&format!("/api/sessions/{id}?limit=4{before}")).await;
        let messages = page["messages"].as_array().unwrap();
        let answers = messages.iter().filter(|message| message["role"] == "assistant");
        let words = answers.filter_map(|message| message["parts"][0]["text"].as_str());
        let words: Vec<_> =
            words.filter(|word| word.starts_with("part")).map(str::to_owned).collect();
        said.splice(0..0, words);
        pages += 1;
        if page["has_earlier"] == false {
            break;
        }
        before = format!("&before={}", messages[0]["message_id"].as_str().unwrap());
    }
    assert_eq!(said, expected, "in order, nothing doubled, nothing missing");
    assert!(pages > 3, "page by page, not all at once");
}

#[tokio::test]
async fn a_prompt_for_an_earlier_part_writes_nothing_and_names_the_right_one() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let old = app.converse(&id, "t1", "[[compress]]").await;
    let response = app.submit(&id, "t2", "too late").await;
    assert_eq!(response.status(), StatusCode::CONFLICT);
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["error"]["code"], "wrong_target");
    assert_eq!(body["error"]["canonical_visible_session_id"], old["continuation"]);
    let after = app.get_json(&format!("/api/sessions/{id}")).await;
    assert_eq!(after["messages"], old["messages"]);
}
