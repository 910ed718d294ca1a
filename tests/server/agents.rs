//! Which agents are offered, and what is missing.

use std::os::unix::fs::PermissionsExt;

use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use throughline::server::agents::programs::Programs;

use crate::test_app::TestApp;

async fn agent(app: &TestApp, id: &str) -> Value {
    let agents = app.get_json("/api/agents").await;
    let agents = agents.as_array().unwrap().iter();
    agents.clone().find(|agent| agent["id"] == id).unwrap_or_else(|| panic!("no {id}")).clone()
}

#[tokio::test]
async fn agents_known_by_name_are_listed_with_what_is_missing() {
    let app = TestApp::start().await;
    for id in ["claude", "codex", "gemini", "goose", "hermes", "opencode"] {
        let missing = agent(&app, id).await["missing"].as_str().unwrap().to_owned();
        assert!(missing.contains("was not found"), "{missing}");
    }
    assert_eq!(agent(&app, "demo").await["missing"], Value::Null);
    let session: Value = app.post("/api/sessions/new", &json!({})).await.json().await.unwrap();
    assert_eq!(session["agent"], "demo", "with nothing else there, the demo is the usual one");
}

#[tokio::test]
async fn an_agent_that_is_not_there_is_refused_with_the_reason() {
    let app = TestApp::start().await;
    let refused = app.post("/api/sessions/new", &json!({ "agent": "codex" })).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    let told: Value = refused.json().await.unwrap();
    assert_eq!(told["error"]["code"], "agent_unavailable");
    assert!(told["error"]["message"].as_str().unwrap().contains("npm install"), "{told}");
}

#[tokio::test]
async fn what_is_installed_meanwhile_is_found_at_the_next_look() {
    let programs = TempDir::new().unwrap();
    let (data, workspace) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let app = TestApp::start_changed(data, workspace, |config| {
        config.agents.programs = Programs::new(Some(programs.path().into()));
    })
    .await;
    assert!(agent(&app, "goose").await["missing"].is_string());
    let program = programs.path().join("goose");
    std::fs::write(&program, "#!/bin/sh\n").unwrap();
    assert!(agent(&app, "goose").await["missing"].is_string(), "it cannot be run yet");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(agent(&app, "goose").await["missing"], Value::Null);
    let session: Value = app.post("/api/sessions/new", &json!({})).await.json().await.unwrap();
    assert_eq!(session["agent"], "goose", "a real agent goes before the demo");
}
