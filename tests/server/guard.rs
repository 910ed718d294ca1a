use reqwest::StatusCode;
use serde_json::json;
use tempfile::TempDir;
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;

use crate::test_app::TestApp;

#[tokio::test]
async fn a_foreign_host_is_refused_everywhere() {
    let app = TestApp::start().await;
    for path in ["/", "/api/sessions", "/healthz"] {
        for host in ["evil.example", "evil.example:3000", "127.0.0.1.evil.example", "10.0.0.1"] {
            let request = app.client.get(format!("{}{path}", app.base)).header("host", host);
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), StatusCode::FORBIDDEN, "{host}{path}");
        }
    }
}

#[tokio::test]
async fn a_name_that_was_configured_is_no_foreign_one() {
    let (data, workspace) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let app = TestApp::start_changed(data, workspace, |config| {
        config.access.reachable = true;
        config.access.hosts = vec!["throughline.example".to_owned()];
    })
    .await;
    for (host, known) in [
        ("throughline.example", true),
        ("Throughline.example:8443", true),
        ("192.168.1.7:3000", true),
        ("[fd00::1]:3000", true),
        ("other.example", false),
        ("throughline.example.evil.example", false),
    ] {
        let request = app.client.get(format!("{}/healthz", app.base)).header("host", host);
        let status = request.send().await.unwrap().status();
        assert_eq!(status == StatusCode::OK, known, "{host}");
    }
}

#[tokio::test]
async fn a_foreign_page_can_change_nothing() {
    let app = TestApp::start().await;
    for (path, kind) in [
        ("/api/sessions/new", "application/json"),
        ("/fn/new_session", "application/json"),
        ("/new", "application/x-www-form-urlencoded"),
    ] {
        for origin in ["http://evil.example", "null", "https://127.0.0.1"] {
            let request = app.client.post(format!("{}{path}", app.base)).body("{}");
            let request = request.header("content-type", kind).header("origin", origin);
            let status = request.send().await.unwrap().status();
            assert_eq!(status, StatusCode::FORBIDDEN, "{origin}{path}");
        }
    }
    assert_eq!(app.get_json("/api/sessions").await["sessions"], json!([]));
}

#[tokio::test]
async fn the_server_s_own_pages_may() {
    let app = TestApp::start().await;
    let request = app.client.post(format!("{}/api/sessions/new", app.base)).json(&json!({}));
    let response = request.header("origin", &app.base).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::CREATED);
}

#[tokio::test]
async fn a_foreign_page_cannot_open_the_socket() {
    let app = TestApp::start().await;
    let address = format!("{}/ws", app.base.replace("http", "ws"));
    let mut request = address.into_client_request().unwrap();
    request.headers_mut().insert("origin", "http://evil.example".parse().unwrap());
    let refused = connect_async(request).await.unwrap_err();
    assert!(refused.to_string().contains("403"), "{refused}");
}
