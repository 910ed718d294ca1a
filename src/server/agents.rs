//! The agents that sessions can talk to, each behind the same small boundary.

pub mod agent;
pub mod demo;
pub mod trace;

use std::collections::BTreeMap;
use std::sync::Arc;

use agent::Agent;

use crate::wire::rest::AgentInfo;

/// The agents of this server, by id.
#[derive(Clone, Default)]
pub struct Agents {
    by_id: BTreeMap<String, Arc<dyn Agent>>,
}

impl Agents {
    pub fn add(&mut self, agent: impl Agent + 'static) {
        self.by_id.insert(agent.info().id, Arc::new(agent));
    }

    pub fn get(&self, id: &str) -> Option<Arc<dyn Agent>> {
        self.by_id.get(id).cloned()
    }

    pub fn list(&self) -> Vec<AgentInfo> {
        self.by_id.values().map(|agent| agent.info()).collect()
    }
}
