//! What a start makes of turns that were cut short, and what audit and repair tell and do.

mod audit;
mod repair;
mod table;
mod zoo;

use serde_json::Value;

use crate::test_app::TestApp;

const AUDIT: &str = "/api/session/recovery/audit";

/// Lists the findings that are not as they should be.
async fn findings(app: &TestApp) -> Vec<Value> {
    let report = app.get_json(AUDIT).await;
    let all = report["findings"].as_array().unwrap().iter();
    all.filter(|finding| finding["severity"] != "ok").cloned().collect()
}

async fn messages(app: &TestApp, id: &str) -> Vec<Value> {
    let transcript = app.get_json(&format!("/api/sessions/{id}")).await;
    transcript["messages"].as_array().unwrap().clone()
}

fn text_of(message: &Value) -> String {
    let parts = message["parts"].as_array().unwrap().iter();
    parts.filter_map(|part| part["text"].as_str()).collect()
}
