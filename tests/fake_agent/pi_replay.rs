//! The pi that says again what a real one was recorded to say, command by command.

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::path::Path;
use std::process::exit;

use serde_json::{Value, json};

/// The commands that Throughline sends as well, apart from those that only ask.
const MADE: [&str; 6] =
    ["prompt", "abort", "compact", "set_model", "set_thinking_level", "extension_ui_response"];

/// One line of a record, and whether it is a command that is made again.
pub struct Recorded {
    pub direction: String,
    pub message: Value,
    pub made: bool,
}

/// Reads what one process of a record heard and said. A prompt that was sent into a run is not
/// sent by us.
pub fn read(file: &Path, process: usize) -> Vec<Recorded> {
    let text = std::fs::read_to_string(file).unwrap();
    let mut running = false;
    let entries = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let read = entries.map(|entry| {
        let raw = entry["raw"].as_str().and_then(|raw| serde_json::from_str(raw).ok());
        let message = raw.unwrap_or_else(|| entry["data"].clone());
        let direction = entry["dir"].as_str().unwrap().to_owned();
        let kind = message["type"].as_str().unwrap_or_default();
        let sent = direction == "in";
        let made = sent && MADE.contains(&kind) && !(kind == "prompt" && running);
        running = match kind {
            "prompt" | "agent_start" => true,
            "agent_settled" => false,
            "response" => running && message["command"] != "prompt",
            _ => running && direction != "exit",
        };
        Recorded { direction, message, made }
    });
    let read: Vec<_> = read.collect();
    let mut processes = vec![Vec::new()];
    for recorded in read {
        let ended = recorded.direction == "exit";
        processes.last_mut().unwrap().push(recorded);
        if ended {
            processes.push(Vec::new());
        }
    }
    processes.swap_remove(process)
}

/// Counts the processes of a record in which something was asked.
pub fn processes(file: &Path) -> usize {
    (0..)
        .take_while(|process| {
            let text = std::fs::read_to_string(file).unwrap();
            *process < text.lines().filter(|line| line.contains("\"dir\":\"exit\"")).count()
        })
        .count()
}

pub fn play(file: &Path, process: usize) {
    let record = read(file, process);
    let idle = read(&file.with_file_name("s01_state_idle.jsonl"), 0);
    // The recorded id of each command, and the id under which it is given now.
    let mut ids = HashMap::new();
    let mut place = 0;
    say(&Value::Null);
    for line in std::io::stdin().lock().lines() {
        let asked: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let kind = asked["type"].as_str().unwrap();
        let fits = |it: &Recorded| it.made && it.message["type"] == kind;
        let Some(found) = record.iter().skip(place).position(fits) else {
            answer(kind, &asked, &record, &idle);
            continue;
        };
        place += found;
        ids.insert(record[place].message["id"].to_string(), asked["id"].clone());
        place += 1;
        let mut running = false;
        while let Some(entry) = record.get(place).filter(|entry| !entry.made) {
            match (entry.direction.as_str(), entry.message["type"].as_str()) {
                ("exit", _) if running => exit(code(&entry.message)),
                ("out", Some("agent_start")) => running = true,
                ("out", Some("agent_settled")) => running = false,
                _ => {}
            }
            tell(entry, &ids);
            place += 1;
        }
    }
    exit(0);
}

fn code(exit: &Value) -> i32 {
    match exit["code"].as_i64().unwrap() {
        signal @ ..0 => 128 - i32::try_from(signal).unwrap(),
        code => i32::try_from(code).unwrap(),
    }
}

fn tell(entry: &Recorded, ids: &HashMap<String, Value>) {
    let mut message = entry.message.clone();
    if entry.direction != "out" {
        return;
    }
    if message["type"] == "response" {
        // A reply to a command that is never given goes to nobody.
        let Some(id) = ids.get(&message["id"].to_string()) else { return };
        message["id"] = id.clone();
    }
    say(&message);
}

/// Answers a question from the record, or else from that of an idle process.
fn answer(kind: &str, asked: &Value, record: &[Recorded], idle: &[Recorded]) {
    let at_rest = |it: &&Recorded| {
        let message = &it.message;
        message["type"] == "response"
            && message["command"] == kind
            && message["data"]["isStreaming"] != true
    };
    let recorded = record.iter().chain(idle).find(at_rest);
    let mut reply = recorded.map_or_else(
        || json!({ "type": "response", "command": kind, "success": true }),
        |recorded| recorded.message.clone(),
    );
    reply["id"] = asked["id"].clone();
    let named = std::env::args().skip_while(|argument| argument != "--session").nth(1);
    if let Some(file) = named.filter(|_| kind == "get_state") {
        reply["data"]["sessionFile"] = file.into();
    }
    say(&reply);
}

fn say(message: &Value) {
    let mut out = std::io::stdout().lock();
    let line = if message.is_null() { String::new() } else { message.to_string() };
    writeln!(out, "{line}").and_then(|()| out.flush()).unwrap();
}
