//! One process of pi: what is asked of it, and what it says.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use super::Pi;
use super::settings::{MODEL, Settings};
use crate::server::agents::agent::{AgentError, OpenRequest};
use crate::server::agents::json::{list, text};
use crate::server::agents::process::{End, Input, LAST_LINES, Line, Lines, Process};
use crate::server::agents::recollection::Memory;
use crate::server::agents::trace::Trace;
use crate::wire::rest::{SlashCommand, Speaker};

/// How long pi may take to start and to say what it offers.
const OPEN_WITHIN: Duration = Duration::from_secs(60);

/// How long a small change may take.
const CHANGE_WITHIN: Duration = Duration::from_secs(10);

/// How many messages may wait to be read.
const WAITING: usize = 1024;

/// The longest first line that is looked for in a file of pi's.
const LONGEST_HEADER: u64 = 64 << 10;

#[derive(Debug)]
pub enum Incoming {
    Message(Value),
    /// The process is gone, and this is how it went.
    Gone(String),
    /// The process must be let go, and this is why.
    LetGo(&'static str),
}

/// Why a command has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    Refused(String),
    Gone(String),
    Late,
}

/// A process that holds a conversation. Dropping it lets the process go.
pub struct Link {
    input: Input,
    incoming: mpsc::Receiver<Incoming>,
    /// What came while the reply to a command was waited for.
    early: VecDeque<Incoming>,
    commands_sent: u64,
    trace: Trace,
    claim: CancellationToken,
    /// The file that pi keeps the conversation in.
    pub file: Option<String>,
    pub memory: Memory,
    pub settings: Settings,
    pub commands: Vec<SlashCommand>,
}

impl Link {
    /// Starts a process on the conversation's file, or on a new conversation.
    pub async fn open(pi: &Pi, request: &OpenRequest) -> Result<Self, AgentError> {
        request.check_folder()?;
        // A path that leads nowhere would quietly become a new conversation.
        let file = request.agent_session.as_deref().filter(|file| holds_conversation(file));
        let memory = match (&request.agent_session, file) {
            (None, _) => Memory::New,
            (Some(_), Some(_)) => Memory::Kept,
            (Some(_), None) => Memory::Lost,
        };
        let claim = file.map(|file| pi.claim(file));
        let launch = pi.launch(request.workspace.clone(), file);
        let trace = request.trace.clone();
        let process = Process::start(&launch, trace.clone())
            .map_err(|error| pi.unavailable(&format!("could not be started: {error}")))?;
        let (sender, incoming) = mpsc::channel(WAITING);
        tokio::spawn(listen(process.output, process.end, sender, trace.clone()));
        let mut link = Self {
            input: process.input,
            incoming,
            early: VecDeque::new(),
            commands_sent: 0,
            trace,
            claim: claim.unwrap_or_else(|| pi.closed.child_token()),
            file: None,
            memory,
            settings: Settings::default(),
            commands: Vec::new(),
        };
        link.introduce(pi, file).await?;
        for (name, value) in &request.options {
            if let Err(Refusal::Gone(how)) = link.set(name, value).await {
                return Err(pi.unavailable(&how));
            }
        }
        Ok(link)
    }

    /// Asks what there is to know before the first prompt.
    async fn introduce(&mut self, pi: &Pi, wanted: Option<&str>) -> Result<(), AgentError> {
        let state = self.call(json!({ "type": "get_state" }), OPEN_WITHIN).await;
        let state = state.map_err(|refusal| match refusal {
            Refusal::Refused(why) => pi.unavailable(&format!("did not start: {why}")),
            Refusal::Gone(how) => pi.unavailable(&how),
            Refusal::Late => pi.unavailable("did not answer in time"),
        })?;
        self.settings.read_state(&state);
        self.file = text(&state, "sessionFile").map(str::to_owned);
        match (&self.file, wanted) {
            (Some(file), Some(wanted)) if !same_file(file, wanted) => self.memory = Memory::Lost,
            (Some(file), None) => self.claim = pi.claim(file),
            _ => {}
        }
        // Versions that lack one of these offer less, and work.
        let mut ask = async |command: &str| {
            let reply = self.call(json!({ "type": command }), CHANGE_WITHIN).await;
            reply.unwrap_or_default()
        };
        let models = ask("get_available_models").await;
        let levels = ask("get_available_thinking_levels").await;
        let commands = ask("get_commands").await;
        self.settings.read_models(&models);
        self.settings.read_levels(&levels);
        self.commands = list(&commands, "commands").iter().filter_map(slash_command).collect();
        Ok(())
    }

    /// Sets an option where pi knows it, and waits until it is set: what is sent behind an
    /// unfinished change may be lost.
    pub async fn set(&mut self, name: &str, value: &str) -> Result<(), Refusal> {
        let Some(command) = self.settings.command(name, value) else { return Ok(()) };
        self.call(command, CHANGE_WITHIN).await?;
        self.settings.note(name, value);
        if name == MODEL {
            let levels = json!({ "type": "get_available_thinking_levels" });
            let levels = self.call(levels, CHANGE_WITHIN).await.unwrap_or_default();
            self.settings.read_levels(&levels);
        }
        Ok(())
    }

    /// Sends a command and gives the id under which its reply will come.
    pub fn send(&mut self, mut command: Value) -> String {
        self.commands_sent += 1;
        let id = format!("t{}", self.commands_sent);
        if let Some(fields) = command.as_object_mut() {
            fields.insert("id".to_owned(), Value::from(id.clone()));
        }
        self.tell(&command);
        id
    }

    /// Sends what has an id of pi's own.
    pub fn tell(&self, message: &Value) {
        let line = message.to_string();
        self.trace.keep(Speaker::Server, &line);
        self.input.send(line);
    }

    /// Sends a command and waits for its reply; what comes meanwhile is read later.
    async fn call(&mut self, command: Value, within: Duration) -> Result<Value, Refusal> {
        let deadline = Instant::now() + within;
        let kind = text(&command, "type").unwrap_or_default().to_owned();
        let id = self.send(command);
        loop {
            match timeout_at(deadline, self.incoming.recv()).await {
                Err(_) => return Err(Refusal::Late),
                Ok(None) => return Err(Refusal::Gone("was let go".to_owned())),
                Ok(Some(Incoming::Gone(how))) => return Err(Refusal::Gone(how)),
                Ok(Some(Incoming::Message(message))) if replies(&message, &id, &kind) => {
                    return reply(&message).map_err(Refusal::Refused);
                }
                Ok(Some(other)) => self.early.push_back(other),
            }
        }
    }

    /// Waits for what pi says next. Nothing is lost when the wait is given up.
    pub async fn next(&mut self) -> Incoming {
        if let Some(early) = self.early.pop_front() {
            return early;
        }
        tokio::select! {
            incoming = self.incoming.recv() => {
                incoming.unwrap_or(Incoming::LetGo("was let go"))
            }
            () = self.claim.cancelled() => Incoming::LetGo("was asked to go on elsewhere"),
        }
    }

    /// Tells whether the process is known to be gone; what it said last is kept.
    pub fn is_gone(&mut self) -> bool {
        while let Ok(incoming) = self.incoming.try_recv() {
            self.early.push_back(incoming);
        }
        let gone = |incoming: &Incoming| matches!(incoming, Incoming::Gone(_));
        self.claim.is_cancelled() || self.early.iter().any(gone)
    }
}

/// Tells whether a message replies to a command. Some versions leave the id out where they do not
/// know the command.
pub fn replies(message: &Value, id: &str, command: &str) -> bool {
    let named = || match text(message, "id") {
        Some(named) => named == id,
        None => text(message, "command") == Some(command),
    };
    text(message, "type") == Some("response") && named()
}

/// Reads a reply: what it gives, or why it gives nothing.
pub fn reply(message: &Value) -> Result<Value, String> {
    match message.get("success").and_then(Value::as_bool) {
        Some(true) => Ok(message.get("data").cloned().unwrap_or_default()),
        _ => Err(text(message, "error").unwrap_or("no reason was given").to_owned()),
    }
}

/// Passes on what a process says until it is gone or says something unbearable.
async fn listen(mut output: Lines, mut end: End, to: mpsc::Sender<Incoming>, trace: Trace) {
    let take = async |bytes: &[u8]| {
        trace.keep(Speaker::Agent, &String::from_utf8_lossy(bytes));
        // What is no message is noise, and noise is only noted.
        if let Ok(message @ Value::Object(_)) = serde_json::from_slice(bytes) {
            let _ = to.send(Incoming::Message(message)).await;
        }
    };
    let how = loop {
        tokio::select! {
            line = output.next() => match line {
                Line::Whole(bytes) => take(&bytes).await,
                Line::TooLong => break "sent a message of more than 32 MB".to_owned(),
                Line::End => break end.wait_briefly().await,
            },
            how = end.wait() => {
                let rest = async {
                    while let Line::Whole(bytes) = output.next().await {
                        take(&bytes).await;
                    }
                };
                // Another process may hold the pipe open; it has nothing to say here.
                let _ = tokio::time::timeout(LAST_LINES, rest).await;
                break how;
            }
        }
    };
    let _ = to.send(Incoming::Gone(how)).await;
    drop((output, to));
    end.wait().await;
}

/// Tells whether a path leads to a file in which pi keeps a conversation.
fn holds_conversation(file: &str) -> bool {
    let path = Path::new(file);
    let read = || {
        let mut first = String::new();
        let file = BufReader::new(File::open(path).ok()?);
        file.take(LONGEST_HEADER).read_line(&mut first).ok()?;
        serde_json::from_str::<Value>(&first).ok()
    };
    path.is_absolute() && read().is_some_and(|header| text(&header, "type") == Some("session"))
}

fn same_file(one: &str, other: &str) -> bool {
    let true_path = |path: &str| Path::new(path).canonicalize().ok();
    one == other || true_path(one).is_some_and(|one| Some(one) == true_path(other))
}

fn slash_command(told: &Value) -> Option<SlashCommand> {
    Some(SlashCommand {
        name: text(told, "name")?.to_owned(),
        description: text(told, "description").unwrap_or_default().to_owned(),
    })
}
