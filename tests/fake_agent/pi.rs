//! The pi that does what its prompts say: the first word names what happens.

use std::io::{BufRead, Write};
use std::path::PathBuf;
use std::process::exit;
use std::sync::mpsc::{self, Receiver};
use std::thread;

use serde_json::{Value, json};

/// More than a client reads as one line.
const HUGE: usize = 33 << 20;

struct Stage {
    /// Commands that came while one is obeyed.
    heard: Receiver<Value>,
    file: PathBuf,
    prompts: Vec<String>,
    level: String,
    /// A Stop that is answered only with the next prompt.
    unanswered: Option<Value>,
}

pub fn play() {
    raw(b"\n");
    let (sender, heard) = mpsc::channel();
    thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            sender.send(serde_json::from_str(&line.unwrap()).unwrap()).unwrap();
        }
        exit(0);
    });
    let named = std::env::args().skip_while(|argument| argument != "--session").nth(1);
    let file = named.map_or_else(
        || std::env::current_dir().unwrap().join(format!(".pi-{}.jsonl", std::process::id())),
        PathBuf::from,
    );
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let prompts = kept.lines().skip(1).map(str::to_owned).collect();
    let mut stage = Stage { heard, file, prompts, level: "off".to_owned(), unanswered: None };
    while let Ok(command) = stage.heard.recv() {
        stage.obey(&command);
    }
}

fn raw(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    // A client that is gone is nobody to tell.
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

fn send(message: &Value) {
    raw(format!("{message}\n").as_bytes());
}

fn reply(command: &Value, data: Value) {
    let (id, kind) = (&command["id"], &command["type"]);
    send(&json!({ "id": id, "type": "response", "command": kind, "success": true, "data": data }));
}

fn refuse(command: &Value, error: &str) {
    let (id, kind) = (&command["id"], &command["type"]);
    send(
        &json!({ "id": id, "type": "response", "command": kind, "success": false, "error": error }),
    );
}

fn update(event: &Value) {
    send(&json!({ "type": "message_update", "assistantMessageEvent": event }));
}

fn say(words: &str) {
    update(&json!({ "type": "text_delta", "contentIndex": 0, "delta": words }));
}

fn tool(kind: &str, rest: &Value) {
    let mut event = json!({ "type": format!("tool_execution_{kind}"), "toolCallId": "call-1",
                            "toolName": "bash", "args": { "command": "ls -l" } });
    for (key, value) in rest.as_object().unwrap() {
        event[key] = value.clone();
    }
    send(&event);
}

impl Stage {
    fn obey(&mut self, command: &Value) {
        match command["type"].as_str().unwrap() {
            "get_state" => {
                let model = json!({ "provider": "fake", "id": "one", "contextWindow": 1000 });
                let (file, level) = (&self.file, &self.level);
                reply(
                    command,
                    json!({ "model": model, "thinkingLevel": level, "sessionFile": file }),
                );
            }
            "get_available_thinking_levels" => {
                reply(command, json!({ "levels": ["off", "high"] }));
            }
            "set_thinking_level" => {
                command["level"].as_str().unwrap().clone_into(&mut self.level);
                reply(command, json!({}));
            }
            "get_commands" => {
                let ask = json!({ "name": "ask", "description": "Asks.", "source": "extension" });
                reply(command, json!({ "commands": [ask] }));
            }
            "compact" if self.prompts.is_empty() => refuse(command, "Nothing to compact"),
            "compact" => {
                send(&json!({ "type": "compaction_start", "reason": "manual" }));
                reply(command, json!({ "summary": "It was about apples." }));
            }
            "prompt" => self.prompt(command),
            // As older versions do, without the id.
            kind => send(&json!({ "type": "response", "command": kind, "success": false,
                                  "error": format!("Unknown command: {kind}") })),
        }
    }

    fn prompt(&mut self, command: &Value) {
        if let Some(abort) = self.unanswered.take() {
            reply(&abort, json!({}));
        }
        let message = command["message"].as_str().unwrap();
        // An agent that joins late is told what was said before its first prompt.
        let last = message.rsplit("\n\n").next().unwrap();
        let (word, rest) = last.split_once(' ').unwrap_or((last, ""));
        match word {
            "refuse" => return refuse(command, "No API key found for fake"),
            "/ask" => {
                self.ask("select", &json!({ "title": "Pick", "options": ["red", "blue"] }));
                return reply(command, json!({}));
            }
            _ => reply(command, json!({})),
        }
        if word == "nothing" {
            return;
        }
        send(&json!({ "type": "agent_start" }));
        send(&json!({ "type": "message_start", "message": { "role": "assistant" } }));
        let (mut reason, mut why) = ("stop", "");
        match word {
            "say" => say(rest),
            "count" => say(&format!("prompt {}", self.prompts.len() + 1)),
            "repeat" => say(message),
            "level" => say(&self.level),
            "pictures" => say(&command["images"].to_string()),
            "pid" => say(&std::process::id().to_string()),
            "noise" => {
                raw(b"warning: something\n\xff\xfe\n[1,2\n");
                say("still here");
            }
            "unknown" => {
                send(&json!({ "type": "telepathy" }));
                update(&json!({ "type": "hologram_delta", "contentIndex": 1 }));
                say("fine");
            }
            "error" => (reason, why) = ("error", "the model is not there"),
            "huge" => raw(&vec![b'x'; HUGE]),
            "silence" => {
                say("quiet");
                loop {
                    thread::park();
                }
            }
            "die" => {
                say("on my way");
                eprintln!("boom: the disk is on fire");
                exit(3);
            }
            "die-in-tool" => {
                tool("start", &json!({}));
                std::process::abort();
            }
            "ask" => {
                tool("start", &json!({}));
                let asked = json!({ "title": "Run command?", "message": "ls -l" });
                let confirmed = self.ask("confirm", &asked)["confirmed"] == true;
                let output = json!({ "content": [{ "type": "text", "text": "a b c" }] });
                tool("end", &json!({ "result": output, "isError": !confirmed }));
                say(if confirmed { "yes" } else { "no" });
            }
            "until-stopped" => {
                say("working");
                let abort = loop {
                    let heard = self.heard.recv().unwrap();
                    if heard["type"] == "abort" {
                        break heard;
                    }
                };
                match rest {
                    "late" => self.unanswered = Some(abort),
                    "error" => (reason, why) = ("error", "This operation was aborted"),
                    "never" => loop {
                        thread::park();
                    },
                    other => reason = if other == "stop" { "stop" } else { "aborted" },
                }
            }
            other => panic!("{other} is no part of this play"),
        }
        let usage = json!({ "input": 5, "output": 2, "totalTokens": 7, "cost": { "total": 0.5 } });
        let message = json!({ "role": "assistant", "content": [], "stopReason": reason,
                              "errorMessage": why, "usage": usage });
        send(&json!({ "type": "message_end", "message": message }));
        self.keep(last);
        send(&json!({ "type": "agent_end", "willRetry": false }));
        if word != "repeat" {
            send(&json!({ "type": "agent_settled" }));
        }
    }

    fn ask(&self, method: &str, question: &Value) -> Value {
        let mut request = question.clone();
        request["type"] = "extension_ui_request".into();
        request["id"] = "dialog-1".into();
        request["method"] = method.into();
        send(&request);
        loop {
            let heard = self.heard.recv().unwrap();
            if heard["type"] == "extension_ui_response" {
                assert_eq!(heard["id"], "dialog-1");
                return heard;
            }
        }
    }

    /// Keeps a prompt in the file, which is there from the first answer on.
    fn keep(&mut self, prompt: &str) {
        self.prompts.push(prompt.to_owned());
        let header = json!({ "type": "session", "version": 3 });
        let kept = format!("{header}\n{}\n", self.prompts.join("\n"));
        std::fs::write(&self.file, kept).unwrap();
    }
}
