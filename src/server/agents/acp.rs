//! Agents that speak the Agent Client Protocol over their standard input and output.
//!
//! Messages are taken as JSON first and understood as far as possible: agents are ahead of and
//! behind the protocol, and what is not understood must never end a conversation. The way of a
//! message: `reader` → `connection` and its `route`s → `conversation` → `update` → happenings.

mod connection;
mod content;
mod conversation;
mod ending;
mod opening;
mod options;
mod permission;
mod pool;
mod reader;
mod retelling;
mod route;
mod tool;
mod update;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;

use self::connection::Refusal;
use self::conversation::Conversation;
use self::pool::Pool;
use super::agent::{Agent, AgentError, AgentHandle, OpenRequest};
use super::household::Household;
use super::process::Launch;
use super::remembered::{Remembered, Retold};
use crate::wire::rest::AgentInfo;

/// How an agent is started and spoken to.
#[derive(Debug, Clone)]
pub struct AcpSettings {
    pub id: String,
    pub name: String,
    pub description: String,
    pub command: String,
    pub arguments: Vec<String>,
    pub environment: BTreeMap<String, String>,
    /// The prompt that makes the agent summarise its context.
    pub compress_command: String,
    /// What to do where its program is not found.
    pub install: String,
}

/// An agent by its command line; a clone is the same agent with the same processes.
#[derive(Clone)]
pub struct Acp {
    settings: Arc<AcpSettings>,
    pool: Arc<Pool>,
    household: Household,
}

impl Acp {
    pub fn new(settings: AcpSettings, household: &Household) -> Self {
        let launch = Launch {
            keeper: household.keeper.clone(),
            command: PathBuf::from(&settings.command),
            arguments: settings.arguments.clone(),
            environment: settings.environment.clone(),
            folder: PathBuf::new(),
        };
        Self {
            pool: Arc::new(Pool::new(&settings.name, launch, household.idle_after)),
            settings: Arc::new(settings),
            household: household.clone(),
        }
    }

    fn name(&self) -> &str {
        &self.settings.name
    }

    fn compress_command(&self) -> &str {
        &self.settings.compress_command
    }

    fn unavailable(&self, how: &str) -> AgentError {
        AgentError::Unavailable(format!("{} {how}", self.name()))
    }

    /// Says in plain words why a request has no result; `what` is what was not done.
    fn explain(&self, refusal: &Refusal, what: &str) -> AgentError {
        match refusal {
            Refusal::Refused { message, .. } => self.unavailable(&format!("{what}: {message}")),
            Refusal::Gone(how) => self.unavailable(how),
            Refusal::Late => self.unavailable("did not answer in time"),
        }
    }
}

impl Agent for Acp {
    fn info(&self) -> AgentInfo {
        let AcpSettings { id, name, description, command, install, .. } = &*self.settings;
        AgentInfo {
            id: id.clone(),
            name: name.clone(),
            description: description.clone(),
            missing: self.household.missing(command, install),
        }
    }

    fn open(&self, request: OpenRequest) -> BoxFuture<'_, Result<AgentHandle, AgentError>> {
        let acp = self.clone();
        Box::pin(async move {
            if let Some(missing) = acp.info().missing {
                return Err(AgentError::Unavailable(missing));
            }
            let (handle, inbox, outbox) = AgentHandle::pair();
            let conversation = Conversation::open(acp, request, outbox).await?;
            tokio::spawn(conversation.serve(inbox));
            Ok(handle)
        })
    }

    fn remembered(&self, folder: PathBuf) -> BoxFuture<'_, Result<Vec<Remembered>, AgentError>> {
        Box::pin(async move { self.list_remembered(&folder).await })
    }

    fn retell(
        &self,
        folder: PathBuf,
        agent_session: String,
    ) -> BoxFuture<'_, Result<Vec<Retold>, AgentError>> {
        Box::pin(async move { self.retell_session(folder, &agent_session).await })
    }

    fn close(&self) {
        self.pool.close();
    }
}
