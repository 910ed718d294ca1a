//! A client that behaves as the browser does: what was not acknowledged is sent again under the
//! same turn, and nothing else before it.

use std::collections::HashMap;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::connect_async;
use tokio_tungstenite::tungstenite::Message;

/// Longer than a server that lives takes to answer.
const PATIENCE: Duration = Duration::from_secs(20);

const SESSIONS: usize = 2;

#[derive(Clone, Copy)]
pub enum Door {
    Rest,
    Socket,
}

pub struct Sent {
    pub session_id: String,
    pub content: String,
    pub acknowledged: bool,
}

pub struct Client {
    number: usize,
    door: Door,
    pub sessions: Vec<String>,
    /// By turn.
    pub sent: HashMap<String, Sent>,
    /// The turn that waits to be acknowledged.
    outbox: Option<String>,
}

/// Means that the server is gone.
struct Gone;

impl Client {
    pub async fn new(number: usize, door: Door, base: &str) -> Self {
        let http = reqwest::Client::new();
        let mut sessions = Vec::new();
        for _ in 0..SESSIONS {
            let request = http.post(format!("{base}/api/sessions/new")).json(&json!({}));
            let session: Value = request.send().await.unwrap().json().await.unwrap();
            sessions.push(session["session_id"].as_str().unwrap().to_owned());
        }
        Self { number, door, sessions, sent: HashMap::new(), outbox: None }
    }

    /// Sends turn after turn until the server is gone.
    pub async fn work(mut self, base: String) -> Self {
        // However it goes wrong, the server is gone; what matters is what it had acknowledged.
        let _ = match self.door {
            Door::Rest => self.work_by_rest(&base).await,
            Door::Socket => self.work_by_socket(&base).await,
        };
        self
    }

    /// Sends what was not acknowledged, as the last thing.
    pub async fn send_rest_of_outbox(&mut self, base: &str) {
        let Some(turn_id) = self.outbox.clone() else {
            return;
        };
        let http = reqwest::Client::new();
        assert!(self.post(&http, base, &turn_id).await.is_ok(), "{turn_id} is not taken");
    }

    /// Names the turn to send: the one that waits, or a new one.
    fn next_turn(&mut self) -> String {
        if let Some(waiting) = &self.outbox {
            return waiting.clone();
        }
        let count = self.sent.len();
        let turn_id = format!("client-{}-turn-{count}", self.number);
        let content = match count % 4 {
            0 => "[[say Short.]]".to_owned(),
            1 => format!("[[say One.]][[plan A | B]][[say Two {count}.]]"),
            2 => "[[slow 3 15]]".to_owned(),
            _ => "continue".to_owned(),
        };
        let session_id = self.sessions[count % SESSIONS].clone();
        self.sent.insert(turn_id.clone(), Sent { session_id, content, acknowledged: false });
        self.outbox = Some(turn_id.clone());
        turn_id
    }

    fn acknowledge(&mut self, turn_id: &str) {
        self.sent.get_mut(turn_id).unwrap().acknowledged = true;
        self.outbox = None;
    }

    async fn work_by_rest(&mut self, base: &str) -> Result<(), Gone> {
        let http = reqwest::Client::new();
        loop {
            let turn_id = self.next_turn();
            self.post(&http, base, &turn_id).await?;
        }
    }

    async fn post(
        &mut self,
        http: &reqwest::Client,
        base: &str,
        turn_id: &str,
    ) -> Result<(), Gone> {
        let Sent { session_id, content, .. } = &self.sent[turn_id];
        let turn = json!({ "turn_id": turn_id, "session_id": session_id, "content": content });
        let request = http.post(format!("{base}/api/chat/start")).json(&turn).timeout(PATIENCE);
        let response = request.send().await.map_err(|_| Gone)?;
        assert_eq!(response.status(), reqwest::StatusCode::ACCEPTED, "{turn}");
        self.acknowledge(turn_id);
        Ok(())
    }

    async fn work_by_socket(&mut self, base: &str) -> Result<(), Gone> {
        let address = format!("{}/ws", base.replace("http", "ws"));
        let (mut stream, _) = connect_async(address).await.map_err(|_| Gone)?;
        let hello = json!({ "type": "hello", "protocol": 1, "subscriptions": [] });
        stream.send(Message::text(hello.to_string())).await.map_err(|_| Gone)?;
        loop {
            let turn_id = self.next_turn();
            let Sent { session_id, content, .. } = &self.sent[&turn_id];
            let command = json!({ "type": "prompt", "turn_id": turn_id, "content": content });
            let frame = json!({
                "type": "rpc_command", "session_id": session_id, "command_id": turn_id,
                "command": command,
            });
            stream.send(Message::text(frame.to_string())).await.map_err(|_| Gone)?;
            loop {
                let message = tokio::time::timeout(PATIENCE, stream.next()).await;
                let message = message.expect("the server neither answers nor is gone");
                let Some(Ok(Message::Text(text))) = message else {
                    return Err(Gone);
                };
                let reply: Value = serde_json::from_str(&text).unwrap();
                if reply["type"] == "rpc_response" {
                    assert_eq!(
                        (&reply["ok"], &reply["command_id"]),
                        (&json!(true), &json!(turn_id))
                    );
                    self.acknowledge(&turn_id);
                    break;
                }
            }
        }
    }
}
