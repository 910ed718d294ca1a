//! What strangers, their pages and their texts can do: nothing.

use std::os::unix::fs::symlink;

use reqwest::StatusCode;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::test_app::TestApp;

const SCRIPT: &str = "<script>alert(1)</script><img src=x onerror=alert(1)>";

/// Sends a request as it stands: a client of good manners would tidy it up before.
async fn send_raw(app: &TestApp, request: &str) -> String {
    let host = app.base.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).await.unwrap();
    // The server may hang up before it has read all of this.
    let _ = stream.write_all(request.replace("HOST", host).as_bytes()).await;
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

fn policy_of(response: &reqwest::Response) -> String {
    response.headers()["content-security-policy"].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn every_answer_forbids_what_it_does_not_need() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    for path in
        ["/", &format!("/session/{id}"), "/settings", "/nowhere", "/api/sessions", "/healthz"]
    {
        let response = app.get(path).await;
        let policy = policy_of(&response);
        for word in
            ["default-src", "base-uri 'none'", "form-action 'self'", "frame-ancestors 'none'"]
        {
            assert!(policy.contains(word), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"),
            ("x-frame-options", "DENY"),
            ("cross-origin-opener-policy", "same-origin"),
        ] {
            assert_eq!(response.headers()[name], value, "{path}");
        }
        assert!(response.headers().contains_key("permissions-policy"));
    }
}

#[tokio::test]
async fn inline_scripts_carry_the_nonce_of_their_page_and_no_handler_is_inline() {
    let app = TestApp::start().await;
    let id = app.new_session().await;
    app.converse(&id, "t1", "[[say Hello]]").await;
    let mut nonces = Vec::new();
    for path in ["/", &format!("/session/{id}"), "/settings", "/new"] {
        let response = app.get(path).await;
        let policy = policy_of(&response);
        let nonce = policy.split("'nonce-").nth(1).unwrap().split('\'').next().unwrap().to_owned();
        let page = response.text().await.unwrap();
        for script in page.split("<script").skip(1) {
            let tag = script.split('>').next().unwrap();
            let known = tag.contains(&format!("nonce=\"{nonce}\"")) || tag.contains("src=\"");
            assert!(known, "{path}: <script{tag}>");
        }
        for handler in [" onclick=", " onload=", " onerror=", " style=\"", "javascript:"] {
            assert!(!page.contains(handler), "{path}: {handler}");
        }
        nonces.push(nonce);
    }
    nonces.dedup();
    assert_eq!(nonces.len(), 4, "a nonce is used once");
}

#[tokio::test]
async fn script_in_any_text_is_shown_as_text() {
    let app = TestApp::start().await;
    std::fs::write(app.workspace.path().join("<script>alert(1)<"), SCRIPT).unwrap();
    let id = app.new_session().await;
    let title = json!({ "title": SCRIPT });
    let patch = app.client.patch(format!("{}/api/sessions/{id}", app.base)).json(&title);
    assert_eq!(patch.send().await.unwrap().status(), StatusCode::OK);
    let blob = app.client.post(format!("{}/api/blobs", app.base)).body("text").send().await;
    let blob: Value = blob.unwrap().json().await.unwrap();
    let mut socket = app.socket().await;
    socket.subscribe(&id, None).await;
    let turn = json!({
        "turn_id": "t1", "session_id": id,
        "content": format!("{SCRIPT} [[say [a](javascript:alert(1)) [b](data:text/html,x) ![c](javascript:alert(1)) {SCRIPT}]][[tool list .]]"),
        "attachments": [{ "blob": blob["blob"], "name": SCRIPT, "media_type": "text/html", "size": 4 }],
    });
    assert_eq!(app.post("/api/chat/start", &turn).await.status(), StatusCode::ACCEPTED);
    socket.until_event("agent_end").await;
    for path in ["/".to_owned(), format!("/session/{id}")] {
        let page = app.get_text(&path).await;
        let alerts = page.matches("alert(1)").count();
        assert!(alerts > 0, "{path}: the text itself is shown");
        let shown = !page.contains("<script>alert")
            && !page.contains("<img src=x")
            && !page.contains("href=\"javascript:")
            && !page.contains("href=\"data:")
            && !page.contains("src=\"javascript:");
        assert!(shown, "{path}: {page}");
    }
    let file = app.get(&format!("/api/blobs/{}", blob["blob"].as_str().unwrap())).await;
    assert_eq!(file.headers()["content-disposition"], "attachment");
    assert_eq!(file.headers()["content-type"], "application/octet-stream");
}

#[tokio::test]
async fn no_path_leads_out_of_the_blobs_or_the_app_s_files() {
    let app = TestApp::start().await;
    let secret = TempDir::new().unwrap();
    std::fs::write(secret.path().join("secret"), "do not read").unwrap();
    symlink(secret.path().join("secret"), app.data.path().join("blobs").join("link")).unwrap();
    for path in [
        "/api/blobs/..%2f..%2fthroughline.db",
        "/api/blobs/../throughline.db",
        "/api/blobs/link",
        "/api/blobs/%2e%2e%2fthroughline.lock",
        "/../../etc/passwd",
        "/..%2f..%2fetc%2fpasswd",
        "/pkg/../../../etc/passwd",
        "/pkg/%2e%2e/%2e%2e/etc/passwd",
    ] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n");
        let answer = send_raw(&app, &request).await;
        let status = answer.split(' ').nth(1).unwrap();
        assert!(["400", "404"].contains(&status), "{path}: {status}");
        for word in ["do not read", "SQLite", "root:"] {
            assert!(!answer.contains(word), "{path}");
        }
    }
}

#[tokio::test]
async fn what_is_too_large_is_refused() {
    let app = TestApp::start().await;
    let large = "x".repeat(2 << 20);
    let sent = app.post("/api/chat/start", &json!({ "content": large })).await;
    assert_eq!(sent.status(), StatusCode::PAYLOAD_TOO_LARGE);
    for head in [format!("X-Long: {}", "x".repeat(400 << 10)), "X-Many: 1\r\n".repeat(200)] {
        let request = format!(
            "GET / HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n{}\r\n\r\n",
            head.trim_end()
        );
        let answer = send_raw(&app, &request).await;
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 431"),
            "{}: {answer}",
            head.len()
        );
    }
    assert_eq!(app.get("/healthz").await.status(), StatusCode::OK);
}
