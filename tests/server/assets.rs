//! Files of the app, from a folder laid out as the build lays it out.

use reqwest::StatusCode;
use serde_json::json;
use tempfile::TempDir;
use throughline::server::Server;
use tokio::net::TcpListener;

use crate::test_app::config;

fn site() -> TempDir {
    let site = TempDir::new().unwrap();
    std::fs::create_dir(site.path().join("pkg")).unwrap();
    let file = |name: &str, text: &str| std::fs::write(site.path().join(name), text).unwrap();
    file("pkg/app.1.wasm", "plain");
    file("pkg/app.1.wasm.br", "brotli");
    file("pkg/app.1.wasm.gz", "gzip");
    file("icon.svg", "<svg/>");
    let manifest = json!({
        "script": "/pkg/start.js", "glue": "/pkg/glue.js", "module": "/pkg/app.1.wasm", "style": "/pkg/app.css", "parts": {},
        "files": [
            { "path": "/pkg/app.1.wasm", "content_type": "application/wasm", "immutable": true, "etag": "\"1\"", "brotli": true, "gzip": true },
            { "path": "/icon.svg", "content_type": "image/svg+xml", "immutable": false, "etag": "\"2\"", "brotli": false, "gzip": false },
        ],
    });
    file("assets.json", &manifest.to_string());
    site
}

async fn start(site: &TempDir) -> (String, TempDir) {
    let data = TempDir::new().unwrap();
    let mut config = config(data.path(), data.path());
    config.site = Some(site.path().to_owned());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let server = Server::open(config).await.unwrap();
    tokio::spawn(server.run(listener, std::future::pending()));
    (base, data)
}

#[tokio::test]
async fn hashed_files_are_kept_for_ever_and_come_in_the_best_encoding() {
    let site = site();
    let (base, _data) = start(&site).await;
    let client = reqwest::Client::builder().no_gzip().no_brotli().build().unwrap();
    for (accept, encoding, bytes) in [
        ("br, gzip", Some("br"), "brotli"),
        ("gzip", Some("gzip"), "gzip"),
        ("br;q=0", None, "plain"),
    ] {
        let request =
            client.get(format!("{base}/pkg/app.1.wasm")).header("accept-encoding", accept);
        let response = request.send().await.unwrap();
        let headers = response.headers().clone();
        assert_eq!(headers["content-type"], "application/wasm");
        assert_eq!(headers["cache-control"], "public, max-age=31536000, immutable");
        assert_eq!(headers.get("content-encoding").map(|it| it.to_str().unwrap()), encoding);
        assert_eq!(response.text().await.unwrap(), bytes);
    }
}

#[tokio::test]
async fn a_file_that_did_not_change_is_not_sent_again() {
    let site = site();
    let (base, _data) = start(&site).await;
    let client = reqwest::Client::new();
    let first = client.get(format!("{base}/icon.svg")).send().await.unwrap();
    assert_eq!(first.headers()["cache-control"], "no-cache");
    let etag = first.headers()["etag"].clone();
    let again = client.get(format!("{base}/icon.svg")).header("if-none-match", etag);
    assert_eq!(again.send().await.unwrap().status(), StatusCode::NOT_MODIFIED);
}

#[tokio::test]
async fn a_missing_asset_is_an_error_and_not_a_page() {
    let site = site();
    let (base, _data) = start(&site).await;
    let response = reqwest::get(format!("{base}/pkg/old.wasm")).await.unwrap();
    assert_eq!(response.status(), StatusCode::NOT_FOUND);
    assert_eq!(response.headers()["content-type"], "application/json");
}
