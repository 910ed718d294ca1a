//! Each wrong request gets a clear error of the right kind, and never a panic.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::test_app::TestApp;

async fn check(
    app: &TestApp,
    (method, path): (Method, &str),
    (content_type, body): (&str, String),
    (status, code): (StatusCode, &str),
) {
    let request = app.client.request(method.clone(), format!("{}{path}", app.base));
    let request = request.header("content-type", content_type).body(body);
    let response = request.send().await.unwrap();
    assert_eq!(response.status(), status, "{method} {path}");
    let kind = response.headers()["content-type"].to_str().unwrap().to_owned();
    assert_eq!(kind, "application/json", "{method} {path}");
    let body: Value = response.json().await.unwrap();
    assert_eq!(body["error"]["code"], code, "{method} {path}: {body}");
    let message = body["error"]["message"].as_str().unwrap();
    assert!(!message.is_empty() && !message.contains("src/"), "{message}");
}

#[tokio::test]
async fn wrong_requests_get_clear_json_errors() {
    const JSON: &str = "application/json";
    let app = TestApp::start().await;
    let id = app.new_session().await;
    let session = format!("/api/sessions/{id}");
    let turn = json!({ "turn_id": "t", "session_id": id, "content": "x" });
    let with = |field: &str, value: Value| {
        let mut changed = turn.clone();
        changed[field] = value;
        (JSON, changed.to_string())
    };
    let none = || (JSON, String::new());
    let start = (Method::POST, "/api/chat/start");
    let unprocessable = (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request");
    let cases = [
        (
            (Method::GET, "/api/sessions/unknown"),
            none(),
            (StatusCode::NOT_FOUND, "session_not_found"),
        ),
        (
            (Method::GET, "/api/sessions/%3Cscript%3E"),
            none(),
            (StatusCode::BAD_REQUEST, "invalid_id"),
        ),
        ((Method::GET, "/api/nothing"), none(), (StatusCode::NOT_FOUND, "not_found")),
        (
            (Method::GET, "/api/blobs/..%2f..%2fetc%2fpasswd"),
            none(),
            (StatusCode::BAD_REQUEST, "invalid_id"),
        ),
        ((Method::GET, "/api/blobs/abc"), none(), (StatusCode::NOT_FOUND, "not_found")),
        (
            (Method::PUT, session.as_str()),
            none(),
            (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
        ),
        (
            (Method::GET, "/api/chat/start"),
            none(),
            (StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed"),
        ),
        ((Method::GET, "/api/sessions?limit=many"), none(), unprocessable),
        ((Method::GET, "/api/sessions?cursor=nonsense"), none(), unprocessable),
        ((Method::GET, "/api/sessions?colour=red"), none(), unprocessable),
        (start.clone(), (JSON, "{".into()), unprocessable),
        (start.clone(), (JSON, "[]".into()), unprocessable),
        (
            start.clone(),
            ("text/plain", turn.to_string()),
            (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_media_type"),
        ),
        (start.clone(), with("content", json!("  \n")), unprocessable),
        (start.clone(), with("content", json!(7)), unprocessable),
        (start.clone(), with("turn_id", json!("")), unprocessable),
        (
            start.clone(),
            with("session_id", json!("unknown")),
            (StatusCode::NOT_FOUND, "session_not_found"),
        ),
        (
            start.clone(),
            with("content", json!("x".repeat(300 << 10))),
            (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
        ),
        (
            start.clone(),
            with("content", json!("x".repeat(2 << 20))),
            (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
        ),
        (
            (Method::POST, "/api/sessions/new"),
            (JSON, r#"{"agent":"nobody"}"#.into()),
            (StatusCode::UNPROCESSABLE_ENTITY, "unknown_agent"),
        ),
        (
            (Method::PATCH, session.as_str()),
            (JSON, json!({ "title": "x".repeat(500) }).to_string()),
            unprocessable,
        ),
        ((Method::PATCH, session.as_str()), (JSON, r#"{"colour":"red"}"#.into()), unprocessable),
        (
            (Method::PATCH, "/api/sessions/unknown"),
            (JSON, r#"{"pinned":true}"#.into()),
            (StatusCode::NOT_FOUND, "session_not_found"),
        ),
    ];
    for (request, body, expect) in cases {
        check(&app, request, body, expect).await;
    }
    let transcript = app.get_json(&session).await;
    assert_eq!(transcript["messages"], json!([]), "nothing was written");
}

#[tokio::test]
async fn a_page_that_does_not_exist_is_a_page_that_says_so() {
    let app = TestApp::start().await;
    for (path, words) in [
        ("/nowhere", "There is no such page"),
        ("/session/unknown", "This conversation is gone"),
        ("/session/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "This conversation is gone"),
        ("/session/", "There is no such page"),
    ] {
        let response = app.get(path).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{path}");
        let text = response.text().await.unwrap();
        assert!(text.contains(words), "{path}: {text}");
        assert!(!text.contains("<script>alert"), "{path}");
    }
}

#[tokio::test]
async fn a_wrong_method_on_a_page_is_an_error_and_not_a_page() {
    let app = TestApp::start().await;
    let response = app.post("/settings", &json!({})).await;
    assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
}
