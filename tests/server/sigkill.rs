//! Eight clients keep a real server busy while it is killed again and again at random moments.

mod client;

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::live_process::LiveProcess;
use client::{Client, Door};

const CLIENTS: usize = 8;

/// How many times the server is killed; `THROUGHLINE_KILLS` asks for another number.
const KILLS: usize = 20;

fn number_from(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap())
}

/// Random numbers that a seed brings back.
struct Dice(u64);

impl Dice {
    fn new() -> Self {
        let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let seed = number_from("THROUGHLINE_SEED").unwrap_or(clock.as_nanos() as u64) | 1;
        println!("THROUGHLINE_SEED={seed}");
        Self(seed)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// Waits for a while of no particular length.
    async fn moment(&mut self, longest: u64) {
        tokio::time::sleep(Duration::from_millis(self.below(longest))).await;
    }
}

/// Starts a server, sometimes after one that was killed before it was ready.
async fn start(data: &TempDir, dice: &mut Dice, kills: &mut usize) -> LiveProcess {
    while dice.below(4) == 0 {
        let mut child = LiveProcess::spawn(data.path());
        dice.moment(150).await;
        child.kill().await.unwrap();
        *kills += 1;
    }
    LiveProcess::start(data.path()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn no_kill_loses_or_doubles_an_acknowledged_turn() {
    let wanted = number_from("THROUGHLINE_KILLS").map_or(KILLS, |kills| kills as usize);
    let (data, mut dice, mut kills) = (TempDir::new().unwrap(), Dice::new(), 0);
    let first = LiveProcess::start(data.path()).await;
    let mut clients = Vec::new();
    for number in 0..CLIENTS {
        let door = if number % 2 == 0 { Door::Rest } else { Door::Socket };
        clients.push(Client::new(number, door, &first.base).await);
    }
    first.kill().await;
    while kills < wanted {
        let server = start(&data, &mut dice, &mut kills).await;
        let at_work: Vec<_> = clients
            .drain(..)
            .map(|client| tokio::spawn(client.work(server.base.clone())))
            .collect();
        dice.moment(300).await;
        server.kill().await;
        kills += 1;
        for client in at_work {
            clients.push(client.await.unwrap());
        }
    }
    let server = LiveProcess::start(data.path()).await;
    for client in &mut clients {
        client.send_rest_of_outbox(&server.base).await;
    }
    let (acknowledged, torn) = check(&server.base, &clients).await;
    println!(
        "{kills} kills, {acknowledged} turns acknowledged, 0 lost, 0 doubled ({torn} torn lines)"
    );
    assert!(acknowledged > wanted, "the load was too small to prove anything: {acknowledged}");
}

/// Compares every transcript with what its client knows, and counts acknowledged turns and lines
/// that a kill tore.
async fn check(base: &str, clients: &[Client]) -> (usize, usize) {
    let http = reqwest::Client::new();
    let report = at_rest(&http, base).await;
    let mut acknowledged = 0;
    for client in clients {
        for session in &client.sessions {
            acknowledged += check_session(&http, base, client, session).await;
        }
    }
    let findings = report["findings"].as_array().unwrap().iter();
    let findings: Vec<_> = findings.filter(|it| it["severity"] != "ok").collect();
    for finding in &findings {
        assert_eq!(finding["kind"], "turn_journal_malformed_event", "{finding}");
    }
    (acknowledged, findings.len())
}

async fn check_session(
    http: &reqwest::Client,
    base: &str,
    client: &Client,
    session: &str,
) -> usize {
    let messages = whole_transcript(http, base, session).await;
    let mut counts: HashMap<(&str, &str), usize> = HashMap::new();
    for message in &messages {
        let turn = message["turn_id"].as_str().expect("a message without a turn");
        *counts.entry((turn, message["role"].as_str().unwrap())).or_default() += 1;
        let sent = client.sent.get(turn).expect("a turn that nobody sent");
        assert_eq!(sent.session_id, session, "{turn} is in another conversation");
        if message["role"] == "user" {
            assert_eq!(message["parts"][0]["text"], sent.content, "{turn}");
        }
    }
    for (turn, sent) in client.sent.iter().filter(|(_, sent)| sent.session_id == session) {
        let of = |role| counts.get(&(turn.as_str(), role)).copied().unwrap_or_default();
        assert!(sent.acknowledged, "{turn} was sent again until it was acknowledged");
        assert_eq!((of("user"), of("assistant")), (1, 1), "{turn} of {session}");
    }
    client.sent.values().filter(|sent| sent.session_id == session).count()
}

/// Waits until nothing runs any more, and gives the audit's report.
async fn at_rest(http: &reqwest::Client, base: &str) -> Value {
    let patience = Instant::now() + Duration::from_secs(60);
    loop {
        let report = http.get(format!("{base}/api/session/recovery/audit")).send().await.unwrap();
        let report: Value = report.json().await.unwrap();
        if report["under_way"] == 0 {
            return report;
        }
        assert!(Instant::now() < patience, "turns go on for ever: {report}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

async fn whole_transcript(http: &reqwest::Client, base: &str, session: &str) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::new();
    loop {
        let before =
            messages.first().map(|it| format!("&before={}", it["message_id"].as_str().unwrap()));
        let before = before.unwrap_or_default();
        let address = format!("{base}/api/sessions/{session}?limit=200{before}");
        let page: Value = http.get(address).send().await.unwrap().json().await.unwrap();
        let older = page["messages"].as_array().unwrap().clone();
        messages = [older, messages].concat();
        if page["has_earlier"] == false {
            return messages;
        }
    }
}
