//! The agents that sessions can talk to, each behind the same small boundary.

pub mod acp;
pub mod agent;
mod content;
pub mod demo;
pub mod household;
mod json;
pub mod openai;
mod outputs;
pub mod pi;
pub mod presets;
pub mod process;
pub mod programs;
mod recollection;
pub mod remembered;
pub mod trace;
mod words;
mod workspace;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use tokio::sync::Mutex;

use acp::Acp;
use agent::Agent;
use demo::Demo;
use household::Household;
use openai::OpenAi;
use pi::Pi;

use super::blobs::Blobs;
use super::config::{AgentKind, Config};
use crate::wire::rest::AgentInfo;

/// The id of the built-in agent.
pub const DEMO: &str = "demo";

/// How long what was found is not looked for again.
const LOOKED_LATELY: Duration = Duration::from_secs(3);

/// The agents of this server, those of its file first, then those known by name, then the demo.
#[derive(Clone, Default)]
pub struct Agents {
    entries: Vec<Entry>,
    usual: Option<String>,
    looked: Arc<Mutex<Option<Instant>>>,
}

#[derive(Clone)]
struct Entry {
    id: String,
    agent: Arc<dyn Agent>,
    folder: Option<PathBuf>,
}

impl Agents {
    /// Makes the agents that the configuration names, and the demo unless it is turned off.
    pub fn of(config: &Config, blobs: &Blobs) -> Self {
        let named = &config.agents;
        let household = Household {
            keeper: named.keeper.clone(),
            programs: named.programs.clone(),
            blobs: blobs.clone(),
            idle_after: named.idle_after,
        };
        let mut entries: Vec<_> = named
            .entries
            .iter()
            .filter_map(|entry| {
                let agent: Arc<dyn Agent> = match &entry.kind {
                    AgentKind::Acp(settings) => Arc::new(Acp::new(settings.clone(), &household)),
                    AgentKind::OpenAi(settings) => Arc::new(OpenAi::new(settings.clone(), blobs)),
                    AgentKind::Pi(settings) => Arc::new(Pi::new(settings.clone(), &household)),
                    AgentKind::Demo | AgentKind::Off => return None,
                };
                Some(Entry { id: entry.id.clone(), agent, folder: entry.folder.clone() })
            })
            .collect();
        let demo = named.entries.iter().find(|entry| entry.id == DEMO);
        if !demo.is_some_and(|entry| matches!(entry.kind, AgentKind::Off)) {
            let agent = Arc::new(Demo::new(config.demo_pace));
            let folder = demo.and_then(|entry| entry.folder.clone());
            entries.push(Entry { id: DEMO.to_owned(), agent, folder });
        }
        Self { entries, usual: named.usual.clone(), looked: Arc::default() }
    }

    pub fn get(&self, id: &str) -> Option<Arc<dyn Agent>> {
        self.entry(id).map(|entry| Arc::clone(&entry.agent))
    }

    /// Gives the folder that an agent works in unless a conversation names another.
    pub fn folder_of(&self, id: &str) -> Option<&Path> {
        self.entry(id)?.folder.as_deref()
    }

    /// Looks for the agents that are found by more than a glance, all at the same time. Whoever asks
    /// meanwhile waits for the same look, and who asks again at once gets what it found.
    pub async fn look(&self) {
        let mut looked = self.looked.lock().await;
        if looked.is_none_or(|last| last.elapsed() > LOOKED_LATELY) {
            join_all(self.entries.iter().map(|entry| entry.agent.look())).await;
            *looked = Some(Instant::now());
        }
    }

    /// Lists the agents as they are right now: what was installed meanwhile is there.
    pub fn list(&self) -> Vec<AgentInfo> {
        self.entries.iter().map(|entry| entry.agent.info()).collect()
    }

    /// Picks the agent for whoever names none: the one set, or the first that can be used.
    pub fn usual(&self) -> Option<AgentInfo> {
        match &self.usual {
            Some(id) => self.get(id).map(|agent| agent.info()),
            None => self.list().into_iter().find(|agent| agent.missing.is_none()),
        }
    }

    /// Lets go of everything that agents run.
    pub fn close(&self) {
        for entry in &self.entries {
            entry.agent.close();
        }
    }

    fn entry(&self, id: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.id == id)
    }
}
