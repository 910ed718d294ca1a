//! A real server with a data directory and a workspace of its own, gone when the test is.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use throughline::server::Server;
use throughline::server::agents::programs::Programs;
use throughline::server::config::{AccessConfig, AgentsConfig, Config};
use throughline::server::data::{Data, DataLock};
use throughline::server::store::faults::{NoFaults, StoreFaults};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, client_async, connect_async};

use crate::crash_storage::CrashDisk;
use crate::live_process::BINARY;

/// Long enough for any machine; reached only by a test that fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// Names commands apart, as browsers do.
static COMMANDS_SENT: AtomicUsize = AtomicUsize::new(0);

pub struct TestApp {
    pub base: String,
    pub client: Client,
    pub data: TempDir,
    pub workspace: TempDir,
    stop: Option<oneshot::Sender<()>>,
    server: JoinHandle<()>,
}

impl TestApp {
    pub async fn start() -> Self {
        let workspace = TempDir::new().unwrap();
        std::fs::write(workspace.path().join("notes.txt"), "remember the milk\n").unwrap();
        Self::start_with(TempDir::new().unwrap(), workspace).await
    }

    /// Starts on what an earlier server, or a test, left.
    pub async fn start_with(data: TempDir, workspace: TempDir) -> Self {
        let server = Server::open(config(data.path(), workspace.path())).await.unwrap();
        Self::serve(server, data, workspace).await
    }

    /// Starts with a configuration of the test's own.
    pub async fn start_changed(
        data: TempDir,
        workspace: TempDir,
        change: impl FnOnce(&mut Config),
    ) -> Self {
        let mut config = config(data.path(), workspace.path());
        change(&mut config);
        let server = Server::open(config).await.unwrap();
        Self::serve(server, data, workspace).await
    }

    /// Starts with journals on a disk that the test owns.
    pub async fn start_on(disk: &CrashDisk) -> Self {
        Self::start_with_faults(TempDir::new().unwrap(), disk, Arc::new(NoFaults)).await
    }

    /// Starts with journals on a disk that the test owns, and a database that fails when it says so.
    pub async fn start_with_faults(
        data: TempDir,
        disk: &CrashDisk,
        faults: Arc<dyn StoreFaults>,
    ) -> Self {
        let workspace = TempDir::new().unwrap();
        let lock = DataLock::take(data.path()).unwrap();
        let opened = Data::open_with(data.path(), Arc::new(disk.clone()), faults).await.unwrap();
        let config = config(data.path(), workspace.path());
        let server = Server::open_data(config, lock, opened).await.unwrap();
        Self::serve(server, data, workspace).await
    }

    async fn serve(server: Server, data: TempDir, workspace: TempDir) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (stop, stopped) = oneshot::channel();
        let server = tokio::spawn(async move {
            let shutdown = async {
                let _ = stopped.await;
            };
            server.run(listener, shutdown).await.unwrap();
        });
        Self { base, client: Client::new(), data, workspace, stop: Some(stop), server }
    }

    /// Stops the server in an orderly way and starts another on the same data.
    pub async fn restart(self) -> Self {
        let (data, workspace) = self.stop().await;
        Self::start_with(data, workspace).await
    }

    /// Stops the server in an orderly way and leaves its data and its workspace.
    pub async fn stop(mut self) -> (TempDir, TempDir) {
        drop(self.stop.take());
        self.server.await.unwrap();
        (self.data, self.workspace)
    }

    pub async fn get(&self, path: &str) -> Response {
        self.client.get(format!("{}{path}", self.base)).send().await.unwrap()
    }

    pub async fn get_json(&self, path: &str) -> Value {
        let response = self.get(path).await;
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        response.json().await.unwrap()
    }

    pub async fn get_text(&self, path: &str) -> String {
        self.get(path).await.text().await.unwrap()
    }

    pub async fn post(&self, path: &str, body: &Value) -> Response {
        self.client.post(format!("{}{path}", self.base)).json(body).send().await.unwrap()
    }

    pub async fn new_session(&self) -> String {
        let response = self.post("/api/sessions/new", &json!({})).await;
        assert_eq!(response.status(), StatusCode::CREATED);
        let session: Value = response.json().await.unwrap();
        session["session_id"].as_str().unwrap().to_owned()
    }

    pub async fn submit(&self, session_id: &str, turn_id: &str, content: &str) -> Response {
        let turn = json!({ "turn_id": turn_id, "session_id": session_id, "content": content });
        self.post("/api/chat/start", &turn).await
    }

    /// Submits a prompt and waits until its turn has ended.
    pub async fn converse(&self, session_id: &str, turn_id: &str, content: &str) -> Value {
        let mut socket = self.socket().await;
        socket.subscribe(session_id, None).await;
        let response = self.submit(session_id, turn_id, content).await;
        assert_eq!(response.status(), StatusCode::ACCEPTED);
        socket.until_event("agent_end").await;
        self.get_json(&format!("/api/sessions/{session_id}")).await
    }

    pub async fn socket(&self) -> TestSocket {
        TestSocket::open(&self.base).await
    }

    /// Opens a socket that has not said hello.
    pub async fn raw_socket(&self) -> TestSocket {
        TestSocket::connect(&self.base).await
    }
}

pub fn config(data: &Path, workspace: &Path) -> Config {
    Config {
        data_dir: data.to_owned(),
        workspace: workspace.canonicalize().unwrap(),
        site: None,
        demo_pace: Duration::ZERO,
        dev: false,
        access: AccessConfig::default(),
        agents: AgentsConfig::new(Programs::default(), PathBuf::from(BINARY)),
    }
}

pub struct TestSocket {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    pub epoch: String,
}

impl TestSocket {
    /// Connects to a server and says hello.
    pub async fn open(base: &str) -> Self {
        Self::connect(base).await.greet().await
    }

    async fn greet(mut self) -> Self {
        self.send(&json!({ "type": "hello", "protocol": 1, "subscriptions": [] })).await;
        let welcome = self.until("welcome").await;
        self.epoch = welcome["epoch"].as_str().unwrap().to_owned();
        self
    }

    async fn connect(base: &str) -> Self {
        let address = format!("{}/ws", base.replace("http", "ws"));
        let (stream, _) = connect_async(address).await.unwrap();
        Self { stream, epoch: String::new() }
    }

    /// Connects as one for whom the network keeps next to nothing while it does not read.
    pub async fn open_narrow(base: &str) -> Self {
        let host = base.strip_prefix("http://").unwrap();
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_recv_buffer_size(4096).unwrap();
        let tcp = MaybeTlsStream::Plain(socket.connect(host.parse().unwrap()).await.unwrap());
        let (stream, _) = client_async(format!("ws://{host}/ws"), tcp).await.unwrap();
        Self { stream, epoch: String::new() }.greet().await
    }

    pub async fn send(&mut self, frame: &Value) {
        self.send_text(&frame.to_string()).await;
    }

    pub async fn send_text(&mut self, text: &str) {
        self.stream.send(Message::text(text)).await.unwrap();
    }

    /// Subscribes to every event of a session, from a number on where one is given, and waits
    /// until the server has done so.
    pub async fn subscribe(&mut self, session_id: &str, seq: Option<u64>) {
        let cursor = seq.map(|seq| json!({ "epoch": self.epoch, "seq": seq }));
        self.send(&json!({
            "type": "subscribe", "session_id": session_id, "level": "full", "cursor": cursor,
        }))
        .await;
        if seq.is_none() {
            self.send(&json!({ "type": "rpc_ping", "ts": 1.0 })).await;
            self.until("rpc_pong").await;
        }
    }

    pub async fn command(&mut self, session_id: &str, command: &Value) -> Value {
        let command_id = format!("command-{}", COMMANDS_SENT.fetch_add(1, Ordering::Relaxed));
        self.command_as(&command_id, session_id, command).await
    }

    /// Sends a command under an id of the test's own.
    pub async fn command_as(
        &mut self,
        command_id: &str,
        session_id: &str,
        command: &Value,
    ) -> Value {
        self.send(&json!({
            "type": "rpc_command", "session_id": session_id, "command_id": command_id,
            "command": command,
        }))
        .await;
        self.until("rpc_response").await
    }

    /// Reads the next frame; `None` when the server closed the connection.
    pub async fn next(&mut self) -> Option<Value> {
        loop {
            let message = tokio::time::timeout(PATIENCE, self.stream.next())
                .await
                .expect("the server should have sent a frame by now")?;
            match message {
                Ok(Message::Text(text)) => return Some(serde_json::from_str(&text).unwrap()),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    /// Reads frames until one of the given type.
    pub async fn until(&mut self, kind: &str) -> Value {
        loop {
            let frame = self.next().await.expect("the connection should be open");
            if frame["type"] == kind {
                return frame;
            }
        }
    }

    /// Reads until an event of the given type, and gives all events seen on the way, in order.
    pub async fn until_event(&mut self, kind: &str) -> Vec<Value> {
        let mut events = Vec::new();
        loop {
            let frame = self.until("rpc_event").await;
            let found = frame["event"]["type"] == kind;
            events.push(frame);
            if found {
                return events;
            }
        }
    }
}

/// Joins the text parts of the last message of a transcript.
pub fn last_text(transcript: &Value) -> String {
    let message = transcript["messages"].as_array().unwrap().last().unwrap();
    let parts = message["parts"].as_array().unwrap().iter();
    let texts =
        parts.filter(|part| part["type"] == "text").map(|part| part["text"].as_str().unwrap());
    texts.collect::<Vec<_>>().join("\n\n")
}
