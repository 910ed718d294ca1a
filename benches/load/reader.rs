//! A browser as far as the server can tell: it looks at some conversations and has all in its list.

use std::collections::HashMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail, ensure};
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::process::Process;

pub struct Reader {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    looked_at: Vec<String>,
}

/// What one reader heard of one conversation.
#[derive(Default)]
pub struct Heard {
    pub session: String,
    pub text: String,
    pub frames: usize,
    /// The number of the last event; each follows on the one before.
    seq: Option<u64>,
    /// How long each word was on its way.
    delays: Vec<Duration>,
}

impl Reader {
    /// Connects, and waits until the server has taken all subscriptions.
    pub async fn open(server: &Process, all: &[String], looked_at: &[String]) -> Result<Self> {
        let address = format!("{}/ws", server.base.replace("http", "ws"));
        let (stream, _) = connect_async(address).await?;
        let mut reader = Self { stream, looked_at: looked_at.to_vec() };
        let level = |id: &String| if looked_at.contains(id) { "full" } else { "meta" };
        let subscriptions: Vec<_> =
            all.iter().map(|id| json!({ "session_id": id, "level": level(id) })).collect();
        let hello = json!({ "type": "hello", "protocol": 1, "subscriptions": subscriptions });
        reader.stream.send(Message::text(hello.to_string())).await?;
        let ping = json!({ "type": "rpc_ping", "ts": 1.0 });
        reader.stream.send(Message::text(ping.to_string())).await?;
        while reader.next().await?["type"] != "rpc_pong" {}
        Ok(reader)
    }

    /// Reads until every conversation that it looks at has ended its turn.
    pub async fn until_ended(mut self) -> Result<Vec<Heard>> {
        let mut heard: HashMap<String, Heard> = HashMap::new();
        let mut ended = 0;
        while ended < self.looked_at.len() {
            let frame = self.next().await?;
            ensure!(frame["type"] != "rpc_replay_gap", "a reader that reads was told of a gap");
            if frame["type"] != "rpc_event" {
                continue;
            }
            let session = frame["session_id"].as_str().context("an event has a session")?;
            ensure!(self.looked_at.iter().any(|id| id == session), "nobody asked for this event");
            let known = heard.entry(session.to_owned()).or_default();
            session.clone_into(&mut known.session);
            known.take(&frame)?;
            ended += usize::from(frame["event"]["type"] == "agent_end");
        }
        Ok(heard.into_values().collect())
    }

    async fn next(&mut self) -> Result<Value> {
        loop {
            match self.stream.next().await.context("the server hung up")?? {
                Message::Text(text) => return Ok(serde_json::from_str(&text)?),
                Message::Close(_) => bail!("the server hung up"),
                _ => {}
            }
        }
    }
}

impl Heard {
    fn take(&mut self, frame: &Value) -> Result<()> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let seq = frame["seq"].as_u64().context("an event has a number")?;
        ensure!(self.seq.is_none_or(|last| seq == last + 1), "an event is missing");
        self.seq = Some(seq);
        self.frames += 1;
        if frame["event"]["type"] == "message_delta" {
            let text = frame["event"]["text"].as_str().context("a delta has text")?;
            self.text.push_str(text);
            for word in text.split_whitespace() {
                let said = Duration::from_micros(word.parse()?);
                self.delays.push(now.saturating_sub(said));
            }
        }
        Ok(())
    }

    /// Gives how long the words were on their way, but for the first ones.
    pub fn delays(&self, settling: usize) -> impl Iterator<Item = Duration> {
        self.delays.iter().skip(settling).copied()
    }
}
