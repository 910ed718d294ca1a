//! The agent pi, over the lines of `pi --mode rpc`.
//!
//! A process holds one conversation, so each has its own; what pi keeps of a conversation is a
//! file, and the file's path is pi's name for it. The way of a line: `link` (the process and what
//! is asked of it) → `conversation` → `update`, `tool` and `dialog` → happenings.

mod archive;
mod conversation;
mod dialog;
mod ending;
mod link;
mod prompt;
mod retelling;
mod settings;
mod tool;
mod update;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use self::conversation::Conversation;
use super::agent::{Agent, AgentError, AgentHandle, OpenRequest};
use super::household::Household;
use super::process::Launch;
use super::remembered::{Remembered, Retold};
use crate::server::lock::lock;
use crate::wire::rest::AgentInfo;

/// How pi is started and shown.
#[derive(Debug, Clone)]
pub struct PiSettings {
    pub id: String,
    pub name: String,
    pub description: String,
    pub command: String,
    /// What stands before the arguments that are always given.
    pub arguments: Vec<String>,
    pub environment: BTreeMap<String, String>,
    /// What to do where its program is not found.
    pub install: String,
}

/// The agent pi by its command line; a clone is the same agent.
#[derive(Clone)]
pub struct Pi {
    settings: Arc<PiSettings>,
    household: Household,
    /// Which conversation has a file open, by the token that asks it to let go.
    open: Arc<Mutex<HashMap<String, CancellationToken>>>,
    closed: CancellationToken,
}

impl Pi {
    pub fn new(settings: PiSettings, household: &Household) -> Self {
        Self {
            settings: Arc::new(settings),
            household: household.clone(),
            open: Arc::default(),
            closed: CancellationToken::new(),
        }
    }

    fn name(&self) -> &str {
        &self.settings.name
    }

    fn unavailable(&self, how: &str) -> AgentError {
        AgentError::Unavailable(format!("{} {how}", self.name()))
    }

    /// Says how a process for a conversation is started: on the file that it is kept in, where
    /// there is one.
    fn launch(&self, folder: PathBuf, file: Option<&str>) -> Launch {
        let PiSettings { command, arguments, environment, .. } = &*self.settings;
        let mut arguments = arguments.clone();
        arguments.extend(["--mode", "rpc"].map(str::to_owned));
        arguments
            .extend(file.into_iter().flat_map(|file| ["--session".to_owned(), file.to_owned()]));
        Launch {
            keeper: self.household.keeper.clone(),
            command: PathBuf::from(command),
            arguments,
            environment: environment.clone(),
            folder,
        }
    }

    /// Takes a file for one conversation: two processes must not write to it, so whoever had it
    /// before lets go.
    fn claim(&self, file: &str) -> CancellationToken {
        let token = self.closed.child_token();
        let mut open = lock(&self.open);
        open.retain(|_, token| !token.is_cancelled());
        if let Some(before) = open.insert(file.to_owned(), token.clone()) {
            before.cancel();
        }
        token
    }
}

impl Agent for Pi {
    fn info(&self) -> AgentInfo {
        let PiSettings { id, name, description, command, install, .. } = &*self.settings;
        AgentInfo {
            id: id.clone(),
            name: name.clone(),
            description: description.clone(),
            missing: self.household.missing(command, install),
        }
    }

    fn open(&self, request: OpenRequest) -> BoxFuture<'_, Result<AgentHandle, AgentError>> {
        let pi = self.clone();
        Box::pin(async move {
            if let Some(missing) = pi.info().missing {
                return Err(AgentError::Unavailable(missing));
            }
            let (handle, inbox, outbox) = AgentHandle::pair();
            let conversation = Conversation::open(pi, request, outbox).await?;
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
        Box::pin(self.retell_file(folder, agent_session))
    }

    fn close(&self) {
        self.closed.cancel();
    }
}
