//! The processes of one agent: one a folder, started at the first need and let go when idle.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use super::connection::{Connection, Refusal};
use super::content::Tastes;
use super::opening::OPEN_WITHIN;
use super::reader;
use crate::server::agents::agent::AgentError;
use crate::server::agents::process::{Launch, Process};
use crate::server::agents::trace::Trace;
use crate::server::lock::lock;

/// How an agent introduced itself.
#[derive(Debug, Clone, Default)]
pub struct Hello {
    pub can_resume: bool,
    pub can_load: bool,
    pub can_list: bool,
    pub can_close: bool,
    pub tastes: Tastes,
    /// What it says about signing in.
    pub login_hint: Option<String>,
}

type Slot = Arc<tokio::sync::Mutex<Option<(Connection, Hello)>>>;

pub struct Pool {
    name: Arc<str>,
    /// How a process is started, apart from its folder.
    launch: Launch,
    idle_after: Duration,
    slots: Mutex<HashMap<PathBuf, Slot>>,
}

impl Pool {
    pub fn new(name: &str, launch: Launch, idle_after: Duration) -> Self {
        Self { name: name.into(), launch, idle_after, slots: Mutex::default() }
    }

    /// Gives the process of a folder; those who ask while it starts wait for the same one.
    pub async fn connect(&self, folder: &Path) -> Result<(Connection, Hello), AgentError> {
        let slot = {
            let mut slots = lock(&self.slots);
            Arc::clone(slots.entry(folder.to_owned()).or_default())
        };
        let mut slot = slot.lock_owned().await;
        if let Some((connection, hello)) = slot.as_ref()
            && connection.is_open()
        {
            return Ok((connection.clone(), hello.clone()));
        }
        let starter = Starter {
            name: self.name.clone(),
            launch: Launch { folder: folder.to_owned(), ..self.launch.clone() },
            idle_after: self.idle_after,
        };
        // Whoever asked may give up meanwhile; the process must still come to be somebody's.
        let starting = tokio::spawn(async move {
            let started = starter.start().await?;
            *slot = Some(started.clone());
            Ok(started)
        });
        starting.await.unwrap_or_else(|_| {
            Err(AgentError::Unavailable(format!("{} could not be started.", self.name)))
        })
    }

    /// Lets every process go. One that is only starting has nobody who waits for it any more, and
    /// goes with the server.
    pub fn close(&self) {
        let slots = lock(&self.slots);
        for slot in slots.values() {
            if let Ok(slot) = slot.try_lock()
                && let Some((connection, _)) = slot.as_ref()
            {
                connection.let_go();
            }
        }
    }
}

/// What it takes to start one process.
struct Starter {
    name: Arc<str>,
    launch: Launch,
    idle_after: Duration,
}

impl Starter {
    async fn start(&self) -> Result<(Connection, Hello), AgentError> {
        let trace = Trace::default();
        let process = Process::start(&self.launch, trace.clone()).map_err(|error| {
            AgentError::Unavailable(format!("{} could not be started: {error}", self.name))
        })?;
        let connection = Connection::new(process.input, trace);
        let reading =
            reader::listen(connection.clone(), process.output, process.end, self.name.clone());
        tokio::spawn(reading);
        let introduction = json!({
            "protocolVersion": 1,
            "clientCapabilities": {
                "fs": { "readTextFile": false, "writeTextFile": false },
                "terminal": false,
                "session": { "compaction": {}, "notices": {} },
            },
            "clientInfo": {
                "name": "throughline",
                "title": "Throughline",
                "version": env!("CARGO_PKG_VERSION"),
            },
        });
        match connection.request("initialize", introduction, OPEN_WITHIN).await {
            Ok(told) => {
                tokio::spawn(retire_when_idle(connection.clone(), self.idle_after));
                Ok((connection, Hello::read(&told)))
            }
            Err(refusal) => {
                connection.let_go();
                Err(self.explain(refusal))
            }
        }
    }

    fn explain(&self, refusal: Refusal) -> AgentError {
        let how = match refusal {
            Refusal::Refused { message, .. } => format!("did not start: {message}"),
            Refusal::Gone(how) => how,
            Refusal::Late => "did not answer in time".to_owned(),
        };
        AgentError::Unavailable(format!("{} {how}", self.name))
    }
}

async fn retire_when_idle(connection: Connection, after: Duration) {
    // Often enough that nothing stays much longer than it should.
    let every = (after / 4).clamp(Duration::from_millis(20), Duration::from_secs(15));
    while !connection.retire_if_idle(after) {
        tokio::time::sleep(every).await;
    }
}
