//! The agent that says again what another one was recorded to say, request by request.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::path::Path;
use std::process::exit;

use serde_json::{Value, json};

/// Tells whether a call is the recorded one, perhaps by another name: a fork is a new session to us.
fn fits(recorded: &Value, asked: &Value) -> bool {
    match (recorded["method"].as_str(), asked["method"].as_str()) {
        (Some("session/fork"), Some("session/new")) => true,
        (Some("session/set_mode"), Some("session/set_config_option")) => true,
        (recorded, asked) => recorded == asked,
    }
}

pub fn play(file: &Path) {
    let text = std::fs::read_to_string(file).unwrap();
    let record: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // The recorded id of each request, and the id under which it is asked now.
    let mut ids = HashMap::new();
    let mut place = 0;
    say("");
    for line in std::io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let found = record
            .iter()
            .skip(place)
            .position(|entry| entry["dir"] == "client->agent" && fits(&entry["msg"], &asked));
        let Some(found) = found else {
            say(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": {} }).to_string());
            continue;
        };
        place += found;
        let asked_at = place;
        ids.insert(record[place]["msg"]["id"].to_string(), asked["id"].clone());
        place += 1;
        while let Some(entry) = record.get(place).filter(|entry| !waits_for(entry)) {
            tell(entry, &ids);
            place += 1;
        }
        if place == record.len() && !answered(&record, &record[asked_at]["msg"]["id"]) {
            // The recorded agent died here.
            exit(3);
        }
    }
    exit(0);
}

/// Tells whether the agent said no more before the client did this. Complaints about noise, which
/// we do not make, are nothing to wait for.
fn waits_for(entry: &Value) -> bool {
    entry["dir"] == "client->agent" && entry["msg"]["error"].is_null()
}

/// Tells whether a request was replied to; what is no request needs no reply.
fn answered(record: &[Value], id: &Value) -> bool {
    let replies = |entry: &Value| entry["msg"]["method"].is_null() && entry["msg"]["id"] == *id;
    id.is_null() || record.iter().any(replies)
}

fn tell(entry: &Value, ids: &HashMap<String, Value>) {
    let message = &entry["msg"];
    match (entry["dir"].as_str(), message) {
        (Some("client->agent"), _) => {}
        (Some("stderr"), words) => eprintln!("{}", words.as_str().unwrap()),
        (_, Value::String(noise)) => say(noise),
        (_, message) => {
            let mut message = message.clone();
            if message["method"].is_null() {
                // A reply to a call that is never made goes to nobody.
                let Some(id) = ids.get(&message["id"].to_string()) else { return };
                message["id"] = id.clone();
            }
            say(&message.to_string());
        }
    }
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).unwrap();
}
