//! The agent that does what its prompts say: the first word names what happens.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead, Write};
use std::process::{Command, Stdio, exit};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use serde_json::{Value, json};

/// Set for an agent that does not leave when its input ends.
pub const STAYS: &str = "THROUGHLINE_FAKE_STAYS";

/// More than a client reads as one line.
const HUGE: usize = 33 << 20;

#[derive(Default)]
struct Heard {
    cancelled: HashSet<String>,
    /// Answers to permissions, by the session that asked.
    answers: HashMap<String, Value>,
    options: HashMap<(String, String), String>,
    sessions: usize,
}

#[derive(Clone, Default)]
struct Stage {
    heard: Arc<(Mutex<Heard>, Condvar)>,
}

pub fn play() {
    let stage = Stage::default();
    // Ends the line that the test program began.
    raw(b"\n");
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        stage.take(message);
    }
    while std::env::var_os(STAYS).is_some() {
        thread::park();
    }
    exit(0);
}

fn raw(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    // A client that is gone is nobody to tell.
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

fn send(message: &Value) {
    raw(format!("{message}\n").as_bytes());
}

fn update(session: &str, update: Value) {
    let params = json!({ "sessionId": session, "update": update });
    send(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": params }));
}

fn say(session: &str, text: &str) {
    let content = json!({ "type": "text", "text": text });
    update(session, json!({ "sessionUpdate": "agent_message_chunk", "content": content }));
}

fn reply(id: &Value, result: Value) {
    send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
}

fn refuse(id: &Value, message: &str) {
    let error = json!({ "code": -32603, "message": message });
    send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }));
}

fn tool(session: &str, id: &str, status: &str) {
    update(
        session,
        json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": "ls -l", "kind": "execute",
                "status": status, "rawInput": { "command": "ls -l" } }),
    );
}

/// Counts the prompts of a session in a file, as agents keep their sessions.
fn count(session: &str) -> usize {
    let file = format!(".{session}");
    let counted = std::fs::read_to_string(&file).map_or(0, |text| text.parse().unwrap());
    std::fs::write(file, (counted + 1).to_string()).unwrap();
    counted + 1
}

impl Stage {
    fn take(&self, message: Value) {
        let params = &message["params"];
        let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
        let id = message["id"].clone();
        match message["method"].as_str() {
            Some("initialize") => {
                let capabilities = json!({
                    "promptCapabilities": { "image": true },
                    "sessionCapabilities": { "resume": {}, "close": {} },
                });
                reply(&id, json!({ "protocolVersion": 1, "agentCapabilities": capabilities }));
            }
            Some("session/new") => {
                let mut heard = self.heard.0.lock().unwrap();
                heard.sessions += 1;
                let session = format!("fake-{}-{}", std::process::id(), heard.sessions);
                drop(heard);
                say(&session, "early");
                reply(&id, json!({ "sessionId": session, "modes": modes() }));
                let commands = json!([{ "name": "compact", "description": "Makes room." }]);
                update(
                    &session,
                    json!({ "sessionUpdate": "available_commands_update", "availableCommands": commands }),
                );
            }
            Some("session/resume") => match std::fs::exists(format!(".{session}")).unwrap() {
                true => reply(&id, json!({ "modes": modes() })),
                false => refuse(&id, "no such session"),
            },
            Some("session/set_mode") => {
                let mode = params["modeId"].as_str().unwrap().to_owned();
                let key = (session, "mode".to_owned());
                self.heard.0.lock().unwrap().options.insert(key, mode);
                reply(&id, json!({}));
            }
            Some("session/prompt") => {
                let (stage, prompt) = (self.clone(), params["prompt"].clone());
                self.heard.0.lock().unwrap().cancelled.remove(&session);
                thread::spawn(move || stage.answer(&session, &id, &prompt));
            }
            Some("session/cancel") => {
                self.heard.0.lock().unwrap().cancelled.insert(session);
                self.heard.1.notify_all();
            }
            Some(_) => reply(&id, json!({})),
            None => {
                let session = id.as_str().unwrap().to_owned();
                let answer = message["result"]["outcome"].clone();
                self.heard.0.lock().unwrap().answers.insert(session, answer);
                self.heard.1.notify_all();
            }
        }
    }

    #[expect(clippy::zombie_processes, reason = "a child that is left behind is what is tested")]
    fn answer(&self, session: &str, id: &Value, prompt: &Value) {
        let blocks = prompt.as_array().unwrap();
        let texts: Vec<_> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        let text = *texts.last().unwrap();
        let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
        let end = |reason: &str| reply(id, json!({ "stopReason": reason }));
        match first {
            "say" => say(session, rest),
            "who" => say(session, &format!("{} {session} {rest}", std::process::id())),
            "count" => say(session, &format!("prompt {}", count(session))),
            "repeat" => say(session, &texts.join(" | ")),
            "blocks" => say(session, &json!(blocks).to_string()),
            "mode" => {
                let heard = self.heard.0.lock().unwrap();
                let key = (session.to_owned(), "mode".to_owned());
                say(session, heard.options.get(&key).map_or("careful", String::as_str));
            }
            "updates" => {
                let updates: Vec<Value> = serde_json::from_str(rest).unwrap();
                for sent in updates {
                    update(session, sent);
                }
            }
            "noise" => {
                raw(b"Welcome! This is not JSON.\n\n[1, 2\n\"text\"\n\xff\xfe\n{\"half\": \n");
                send(&json!({ "jsonrpc": "2.0", "method": "_vendor/thing", "params": {} }));
                send(&json!({ "jsonrpc": "2.0", "id": 99999, "result": {} }));
                say(session, "still here");
            }
            "unknown" => {
                update(session, json!({ "sessionUpdate": "telepathy_update", "x": 1 }));
                let hologram = json!({ "type": "hologram" });
                update(
                    session,
                    json!({ "sessionUpdate": "agent_message_chunk", "content": hologram }),
                );
                update(
                    session,
                    json!({ "sessionUpdate": "tool_call", "toolCallId": "t", "title": "x", "kind": "levitate", "status": "pondering" }),
                );
                update(session, json!(7));
                say(session, "still here");
            }
            "reason" => return end("cosmic_rays"),
            "error" => return refuse(id, "the model is not there"),
            "huge" => {
                let mut line = vec![b'x'; HUGE];
                line.push(b'\n');
                raw(&line);
                return;
            }
            "silence" => {
                say(session, "a moment");
                return;
            }
            "die" => {
                say(session, "about to die");
                eprintln!("boom: the disk is on fire");
                exit(3);
            }
            "die-in-tool" => {
                tool(session, "t", "in_progress");
                std::process::abort();
            }
            "leave-child" => {
                let child = Command::new("sleep").arg("300").stdin(Stdio::null()).spawn().unwrap();
                say(session, &format!("{} {}", std::process::id(), child.id()));
                if rest == "and die" {
                    exit(4);
                }
            }
            "close" => {
                say(session, "goodbye");
                let nowhere = std::fs::File::options().write(true).open("/dev/null").unwrap();
                rustix::stdio::dup2_stdout(nowhere).unwrap();
                return;
            }
            "until-cancelled" => {
                say(session, "working");
                self.wait_for(|heard| heard.cancelled.contains(session).then_some(()));
                match rest {
                    "error" => return refuse(id, "I was interrupted"),
                    "never" => return,
                    reason => return end(reason),
                }
            }
            "ask" => {
                tool(session, "t", "pending");
                let options = json!([
                    { "optionId": "yes", "name": "allow_once", "kind": "allow_once" },
                    { "optionId": "ever", "name": "Yes, always", "kind": "allow_always" },
                    { "optionId": "no", "name": "No", "kind": "reject_once" },
                ]);
                let call = json!({ "toolCallId": "t", "title": "ls -l", "kind": "execute", "rawInput": { "command": "ls -l" } });
                let params = json!({ "sessionId": session, "toolCall": call, "options": options });
                send(
                    &json!({ "jsonrpc": "2.0", "id": session, "method": "session/request_permission", "params": params }),
                );
                let answer = self.wait_for(|heard| heard.answers.remove(session));
                if answer["outcome"] == "cancelled" {
                    return end("cancelled");
                }
                tool(session, "t", "completed");
                say(session, answer["optionId"].as_str().unwrap());
            }
            "/compact" => {
                let summary = json!([{ "type": "text", "text": "It was about apples." }]);
                for status in ["in_progress", "completed"] {
                    update(
                        session,
                        json!({ "sessionUpdate": "compaction_update", "compactionId": "c", "status": status, "summary": summary }),
                    );
                }
            }
            "title" => {
                update(session, json!({ "sessionUpdate": "session_info_update", "title": rest }));
            }
            other => say(session, &format!("I do not know {other}")),
        }
        end("end_turn");
    }

    fn wait_for<T>(&self, found: impl Fn(&mut Heard) -> Option<T>) -> T {
        let mut heard = self.heard.0.lock().unwrap();
        loop {
            match found(&mut heard) {
                Some(found) => return found,
                None => heard = self.heard.1.wait(heard).unwrap(),
            }
        }
    }
}

fn modes() -> Value {
    json!({
        "currentModeId": "careful",
        "availableModes": [{ "id": "careful", "name": "Careful" }, { "id": "bold", "name": "Bold" }],
    })
}
