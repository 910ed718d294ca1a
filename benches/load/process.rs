//! The server as a process of its own.

use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use reqwest::Client;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::measure;

/// Names turns apart.
static TURNS: AtomicUsize = AtomicUsize::new(0);

/// A server that is killed with this value.
pub struct Process {
    pub base: String,
    id: u32,
    client: Client,
    _child: Child,
}

impl Process {
    pub async fn start(data: &Path) -> Result<Self> {
        let mut child = Command::new(env!("CARGO_BIN_EXE_throughline"))
            .args(["serve", "--addr", "127.0.0.1:0", "--data-dir"])
            .arg(data.join("data"))
            .arg("--workspace")
            .arg(data)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let id = child.id().context("the server ended at once")?;
        let output = child.stdout.take().context("the server says nothing")?;
        let line = BufReader::new(output).lines().next_line().await?.unwrap_or_default();
        let base = line.strip_prefix("Throughline is ready at ").context("no address")?.to_owned();
        Ok(Self { base, id, client: Client::new(), _child: child })
    }

    pub async fn new_session(&self) -> Result<String> {
        let session = self.post("/api/sessions/new", &json!({})).await?;
        Ok(session["session_id"].as_str().context("a session has an id")?.to_owned())
    }

    pub async fn submit(&self, session: &str, content: &str) -> Result<()> {
        let turn_id = format!("t{}", TURNS.fetch_add(1, Ordering::Relaxed));
        let turn = json!({ "turn_id": turn_id, "session_id": session, "content": content });
        let receipt = self.post("/api/chat/start", &turn).await?;
        ensure!(receipt["accepted"] == true, "a prompt was not accepted");
        Ok(())
    }

    /// Reads the text of the newest message as it is stored.
    pub async fn last_answer(&self, session: &str) -> Result<String> {
        let address = format!("{}/api/sessions/{session}?limit=1", self.base);
        let found: Value = self.client.get(address).send().await?.json().await?;
        let text = found["messages"][0]["parts"][0]["text"].as_str();
        Ok(text.context("an answer has text")?.to_owned())
    }

    /// Waits until a session has nothing to do.
    pub async fn until_answered(&self, session: &str) -> Result<()> {
        let address = format!("{}/api/sessions/{session}?limit=1", self.base);
        loop {
            let found: Value = self.client.get(&address).send().await?.json().await?;
            if found["turn_id"].is_null() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let request = self.client.post(format!("{}{path}", self.base)).json(body);
        Ok(request.send().await?.error_for_status()?.json().await?)
    }

    pub fn cpu(&self) -> Result<Duration> {
        measure::cpu_of(self.id)
    }

    pub fn memory(&self) -> Result<u64> {
        measure::memory_of(&self.id.to_string())
    }
}
