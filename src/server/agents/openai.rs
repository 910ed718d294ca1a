//! Models behind a server that speaks as OpenAI's does: Ollama, llama.cpp, LM Studio, vLLM and
//! hosted ones.
//!
//! A model has neither memory nor hands, so both are lent to it here: `history` is what it is told
//! at each step, `tools` is what it may do in the conversation's folder, and `work` goes to and fro
//! between them until the model has nothing more to do.

mod client;
mod conversation;
mod hands;
mod history;
mod permission;
mod problem;
mod reply;
mod tools;
mod work;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::future::BoxFuture;

use self::client::Client;
use self::conversation::Conversation;
use super::agent::{Agent, AgentError, AgentHandle, OpenRequest};
use crate::server::blobs::Blobs;
use crate::wire::rest::AgentInfo;

/// Where a model server is and how it is shown.
#[derive(Debug, Clone, Default)]
pub struct OpenAiSettings {
    pub id: String,
    pub name: String,
    pub description: String,
    /// The address below which `/chat/completions` is found.
    pub base_url: String,
    /// The model, unless a person chooses another; without one it is the first that is offered.
    pub model: Option<String>,
    /// The environment variable that holds the key. The key itself is read at each use and kept
    /// nowhere.
    pub key_variable: Option<String>,
    /// How many tokens the model's context holds, where its server does not say.
    pub context: Option<u64>,
    /// How to start it, for a server that is looked for and not named by anybody.
    pub start: Option<String>,
}

impl OpenAiSettings {
    fn key(&self) -> Option<String> {
        self.key_variable.as_ref().and_then(|name| std::env::var(name).ok())
    }
}

/// A model server; a clone is the same one.
#[derive(Clone)]
pub struct OpenAi {
    settings: Arc<OpenAiSettings>,
    client: Client,
    blobs: Blobs,
    /// Whether the server answered when it was last looked for.
    found: Arc<AtomicBool>,
}

impl OpenAi {
    pub fn new(settings: OpenAiSettings, blobs: &Blobs) -> Self {
        let settings = Arc::new(settings);
        Self {
            client: Client::new(Arc::clone(&settings)),
            settings,
            blobs: blobs.clone(),
            found: Arc::default(),
        }
    }

    /// Says what is missing: a key, or a server that was looked for and not found.
    fn missing(&self) -> Option<String> {
        let OpenAiSettings { base_url, key_variable, start, .. } = &*self.settings;
        if let Some(name) = key_variable.as_ref().filter(|_| self.settings.key().is_none()) {
            return Some(format!(
                "The environment variable {name}, which holds its key, is not set."
            ));
        }
        let start = start.as_ref().filter(|_| !self.found.load(Ordering::Relaxed))?;
        Some(format!("Nothing answers at {base_url}. {start}"))
    }
}

impl Agent for OpenAi {
    fn info(&self) -> AgentInfo {
        let OpenAiSettings { id, name, description, .. } = &*self.settings;
        AgentInfo {
            id: id.clone(),
            name: name.clone(),
            description: description.clone(),
            missing: self.missing(),
        }
    }

    fn open(&self, request: OpenRequest) -> BoxFuture<'_, Result<AgentHandle, AgentError>> {
        let openai = self.clone();
        Box::pin(async move {
            let (handle, inbox, outbox) = AgentHandle::pair();
            let conversation = Conversation::open(openai, request, outbox).await?;
            tokio::spawn(conversation.serve(inbox));
            Ok(handle)
        })
    }

    fn look(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if self.settings.start.is_some() {
                self.found.store(self.client.is_there().await, Ordering::Relaxed);
            }
        })
    }
}
