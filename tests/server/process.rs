//! The real binary, as a person starts it and as a power cut ends it.

use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command as AsyncCommand};

const BINARY: &str = env!("CARGO_BIN_EXE_throughline");

fn run(arguments: &[&str]) -> Output {
    Command::new(BINARY).args(arguments).stdin(Stdio::null()).output().unwrap()
}

async fn serve(data: &TempDir) -> (Child, String) {
    serve_at("127.0.0.1:0", data).await
}

async fn serve_at(address: &str, data: &TempDir) -> (Child, String) {
    let mut child = AsyncCommand::new(BINARY)
        .args(["serve", "--addr", address, "--demo-pace", "0"])
        .arg("--data-dir")
        .arg(data.path())
        .arg("--workspace")
        .arg(data.path())
        .env("THROUGHLINE_AGENT", "demo")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let line = lines.next_line().await.unwrap().unwrap();
    let base = line.strip_prefix("Throughline is ready at ").unwrap().to_owned();
    (child, base)
}

#[test]
fn help_and_version_are_worth_reading() {
    let help = String::from_utf8(run(&["serve", "--help"]).stdout).unwrap();
    for word in ["--addr", "--data-dir", "THROUGHLINE_ADDR", "THROUGHLINE_DATA_DIR", "--log-format"]
    {
        assert!(help.contains(word), "{word} is missing from:\n{help}");
    }
    let version = String::from_utf8(run(&["--version"]).stdout).unwrap();
    assert_eq!(version.trim(), concat!("throughline ", env!("CARGO_PKG_VERSION")));
}

/// The black box: each case of the fixture file through the real binary.
#[test]
fn resolve_answers_rows_from_a_file() {
    let cases = std::fs::read_to_string("tests/fixtures/resolution.json").unwrap();
    let cases: Vec<Value> = serde_json::from_str(&cases).unwrap();
    assert!(cases.len() >= 60, "{} cases", cases.len());
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("rows.json");
    let file_name = file.to_str().unwrap();
    for case in &cases {
        std::fs::write(&file, case["rows"].to_string()).unwrap();
        let mut arguments = vec!["resolve", "--rows", file_name];
        if let Some(requested) = case["requested"].as_str() {
            arguments.extend(["--requested", requested]);
        }
        arguments.extend((case["inspect"] == true).then_some("--inspect"));
        arguments.extend((case["complete"] == false).then_some("--partial"));
        let output = run(&arguments);
        assert!(output.status.success(), "{}", case["name"]);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(answer, case["expect"], "{}", case["name"]);
    }
}

#[test]
fn resolve_says_when_it_cannot_read_its_rows() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("rows.json");
    for text in ["", "not json", "7", "[{\"title\": \"a row without an id\"}]"] {
        std::fs::write(&file, text).unwrap();
        let output = run(&["resolve", "--rows", file.to_str().unwrap(), "--requested", "a"]);
        assert_eq!(output.status.code(), Some(2), "{text:?}");
        assert!(!output.stderr.is_empty());
    }
    assert_eq!(run(&["resolve", "--requested", "a"]).status.code(), Some(2));
}

#[test]
fn an_address_that_others_can_reach_is_refused() {
    let data = TempDir::new().unwrap();
    let folder = data.path().to_str().unwrap();
    let output = run(&["serve", "--addr", "0.0.0.0:0", "--data-dir", folder]);
    assert!(!output.status.success());
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(words.contains("needs a login"), "{words}");
    for options in [["--host", "throughline.example"], ["--trust-proxy", "1"]] {
        let output = run(&[
            &["serve", "--addr", "127.0.0.1:0", "--data-dir", folder],
            &options[..],
        ]
        .concat());
        assert!(!output.status.success(), "{options:?}: a proxy would let others in");
    }
}

#[tokio::test]
async fn a_password_opens_other_addresses_and_pair_prints_a_code() {
    let data = TempDir::new().unwrap();
    let folder = data.path().to_str().unwrap();
    let mut password = Command::new(BINARY);
    let password = password.args(["password", "--data-dir", folder]).stdin(Stdio::piped());
    let mut password = password.stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut password.stdin.take().unwrap(), b"a long password\n").unwrap();
    assert!(password.wait_with_output().unwrap().status.success());

    let (_child, base) = serve_at("0.0.0.0:0", &data).await;
    let base = base.replace("0.0.0.0", "127.0.0.1");
    let client = reqwest::Client::new();
    let told = client.get(format!("{base}/api/sessions")).send().await.unwrap();
    assert_eq!(told.status(), reqwest::StatusCode::UNAUTHORIZED);
    let printed = String::from_utf8(run(&["pair", "--data-dir", folder]).stdout).unwrap();
    assert!(printed.contains('█') && printed.contains("/pair?code="), "{printed}");
    let code = printed.split("/pair?code=").nth(1).unwrap().lines().next().unwrap();
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let request = client.build().unwrap().post(format!("{base}/pair"));
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    let paired = request.body(format!("code={code}")).send().await.unwrap();
    assert_eq!(paired.status(), reqwest::StatusCode::SEE_OTHER);
    assert!(paired.headers().contains_key("set-cookie"));
}

#[tokio::test]
async fn an_answer_cut_short_by_a_kill_looks_unfinished_after_the_restart() {
    let data = TempDir::new().unwrap();
    let (mut child, base) = serve(&data).await;
    let client = reqwest::Client::new();
    let created = client.post(format!("{base}/api/sessions/new")).json(&json!({}));
    let session: Value = created.send().await.unwrap().json().await.unwrap();
    let id = session["session_id"].as_str().unwrap();
    // The tool call is a boundary at which what was said before it is saved.
    let turn = json!({ "turn_id": "t1", "session_id": id, "content": "[[say Saved.]][[tool list .]][[hang]]" });
    client.post(format!("{base}/api/chat/start")).json(&turn).send().await.unwrap();
    let address = format!("{base}/api/sessions/{id}");
    loop {
        let transcript: Value = client.get(&address).send().await.unwrap().json().await.unwrap();
        if transcript["messages"].to_string().contains("\"done\"") {
            break;
        }
    }
    child.kill().await.unwrap();

    let (_child, base) = serve(&data).await;
    let address = format!("{base}/api/sessions/{id}");
    let transcript: Value = client.get(&address).send().await.unwrap().json().await.unwrap();
    assert_eq!(transcript["messages"][0]["turn_id"], "t1");
    assert_eq!(transcript["messages"][1]["state"], "interrupted");
    assert!(transcript["messages"][1].to_string().contains("Saved."));
    let page = client.get(format!("{base}/session/{id}")).send().await.unwrap();
    assert!(page.text().await.unwrap().contains("Stopped: the server restarted"));
}

/// A page once asked for its title after its own state was gone, one time in fifty.
#[tokio::test]
async fn pages_asked_for_at_the_same_time_all_come() {
    let data = TempDir::new().unwrap();
    let (_child, base) = serve(&data).await;
    let client = reqwest::Client::new();
    let created = client.post(format!("{base}/api/sessions/new")).json(&json!({}));
    let session: Value = created.send().await.unwrap().json().await.unwrap();
    let id = session["session_id"].as_str().unwrap();
    let paths = ["/".to_owned(), format!("/session/{id}"), "/settings".to_owned()];
    for _ in 0..30 {
        let paths = paths.iter().cycle().take(12);
        let asked = paths.map(|path| client.get(format!("{base}{path}")).send());
        for response in futures::future::join_all(asked).await {
            let response = response.unwrap();
            assert_eq!(response.status(), reqwest::StatusCode::OK, "{}", response.url());
        }
    }
}
