//! What agents tell, as it is shown: each kind of update through a real process.

use serde_json::{Value, json};

use super::{answer_to, start};
use crate::test_app::TestApp;

/// Sends updates in one turn, and gives the parts of the answer behind what came early.
async fn shown(app: &TestApp, updates: Value) -> Value {
    let id = app.new_session().await;
    app.converse(&id, &format!("{id}-first"), "count").await;
    let answer = answer_to(app, &id, &format!("{id}-updates"), &format!("updates {updates}")).await;
    assert_eq!(answer["state"], "complete", "{answer}");
    answer
}

fn tool(fields: Value) -> Value {
    let mut update = json!({ "sessionUpdate": "tool_call_update", "toolCallId": "t" });
    update.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    update
}

fn content(text: &str) -> Value {
    json!({ "type": "content", "content": { "type": "text", "text": text } })
}

#[tokio::test]
async fn a_plan_is_one_part_that_changes() {
    let app = start().await;
    let plan = |status: &str| {
        let entry = json!({ "content": "Look", "priority": "high", "status": status });
        json!({ "sessionUpdate": "plan", "entries": [entry] })
    };
    let answer =
        shown(&app, json!([plan("pending"), plan("in_progress"), plan("completed")])).await;
    let entries = json!([{ "text": "Look", "state": "done" }]);
    assert_eq!(answer["parts"], json!([{ "type": "plan", "entries": entries }]));
}

#[tokio::test]
async fn a_tool_takes_its_name_and_output_from_what_was_told_last() {
    let app = start().await;
    let answer = shown(
        &app,
        json!([
            tool(json!({ "title": "Terminal", "kind": "execute", "status": "pending", "content": [] })),
            tool(json!({ "title": "cat  a.txt", "content": [content("show a file")] })),
            tool(json!({ "content": [content("```console\nhello\n```")] })),
            tool(json!({ "content": [content("hello\nworld")], "status": "completed" })),
            tool(json!({ "title": "Showed a file" })),
        ]),
    )
    .await;
    let [part] = &answer["parts"].as_array().unwrap()[..] else { panic!("{answer}") };
    assert_eq!((&part["name"], &part["target"]), (&json!("Run"), &json!("Showed a file")));
    assert_eq!(part["state"], "done");
    assert_eq!(part["output"], json!([{ "type": "text", "text": "hello\nworld" }]));
}

#[tokio::test]
async fn output_beside_the_protocol_is_shown() {
    let app = start().await;
    let piece =
        |text: &str| tool(json!({ "_meta": { "terminal_output_delta": { "data": text } } }));
    let answer = shown(
        &app,
        json!([
            tool(json!({ "title": "make", "name": "exec_command", "content": [{ "type": "terminal", "terminalId": "t" }] })),
            piece("one\n"),
            piece("two\n"),
            tool(json!({ "status": "failed" })),
        ]),
    )
    .await;
    assert_eq!(answer["parts"][0]["name"], "exec_command");
    assert_eq!(answer["parts"][0]["state"], "failed");
    assert_eq!(answer["parts"][0]["output"], json!([{ "type": "text", "text": "one\ntwo\n" }]));
}

#[tokio::test]
async fn a_change_of_a_file_is_shown_by_its_path_in_the_folder() {
    let app = start().await;
    let path = app.workspace.path().canonicalize().unwrap().join("src/a.rs");
    let diff = json!({ "type": "diff", "path": path, "oldText": null, "newText": "fn main() {}" });
    let edit = json!({ "title": "Edit", "kind": "edit", "status": "completed", "content": [diff] });
    let answer = shown(&app, json!([tool(edit)])).await;
    let shown = json!([{ "type": "diff", "path": "src/a.rs", "old": "", "new": "fn main() {}" }]);
    assert_eq!(answer["parts"][0]["output"], shown);
}

#[tokio::test]
async fn a_tool_without_content_shows_its_raw_output_within_bounds() {
    let app = start().await;
    let long = "y".repeat(150_000);
    let done = json!({ "title": "x", "status": "completed", "rawOutput": { "output": long } });
    let answer = shown(&app, json!([tool(done)])).await;
    let text = answer["parts"][0]["output"][0]["text"].as_str().unwrap();
    assert!(text.len() < 140_000 && text.ends_with("the rest is left out"), "{}", text.len());
}

#[tokio::test]
async fn thoughts_notices_and_pictures_are_parts_of_their_own() {
    let app = start().await;
    let chunk = |kind: &str, content: Value| json!({ "sessionUpdate": kind, "content": content });
    let picture = json!({ "type": "image", "mimeType": "image/png", "data": "iVBORw0KGgowMDAw" });
    let answer = shown(
        &app,
        json!([
            chunk("agent_thought_chunk", json!({ "type": "text", "text": "hm" })),
            json!({ "sessionUpdate": "notice", "severity": "warning", "title": "Careful" }),
            chunk("agent_message_chunk", picture),
        ]),
    )
    .await;
    assert_eq!(answer["parts"][0], json!({ "type": "thinking", "text": "hm" }));
    let notice = json!({ "type": "notice", "level": "warning", "text": "Careful" });
    assert_eq!(answer["parts"][1], notice);
    assert_eq!(answer["parts"][2]["media_type"], "image/png");
}

#[tokio::test]
async fn usage_is_that_of_the_turn_and_cost_what_it_added() {
    let app = start().await;
    let usage = |used: u64, amount: f64| json!({ "sessionUpdate": "usage_update", "used": used, "size": 1000, "cost": { "amount": amount, "currency": "USD" } });
    let id = app.new_session().await;
    let prompt = format!("updates {}", json!([usage(100, 0.25)]));
    assert_eq!(answer_to(&app, &id, "t1", &prompt).await["usage"]["cost_usd"], 0.25);
    let prompt = format!("updates {}", json!([usage(300, 0.5), usage(400, 1.0)]));
    let answer = answer_to(&app, &id, "t2", &prompt).await;
    assert_eq!(answer["usage"]["cost_usd"], 0.75);
    assert_eq!(answer["usage"]["context_tokens"], 400);
    assert_eq!(answer["usage"]["context_limit"], 1000);
}

/// Some agents make room without a word; only the numbers tell.
#[tokio::test]
async fn a_context_that_empties_itself_was_compressed() {
    let app = start().await;
    let id = app.new_session().await;
    let usage = |used: u64| json!({ "sessionUpdate": "usage_update", "used": used, "size": 1000 });
    let prompt = format!("updates {}", json!([usage(850), usage(200)]));
    let transcript = app.converse(&id, "t1", &prompt).await;
    assert!(transcript["continuation"].is_string(), "{transcript}");
}
