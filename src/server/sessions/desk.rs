//! What a session keeps for its agent between two starts, and what the agent tells of itself.

use std::sync::{Arc, Mutex, MutexGuard};

use tokio_util::task::AbortOnDropHandle;

use super::inbox::Reply;
use super::task::{AgentState, SessionTask};
use crate::domain::list::title_from_prompt;
use crate::domain::message::Message;
use crate::server::agents::agent::{AgentCommand, Happening, OpenRequest};
use crate::server::agents::trace::Trace;
use crate::server::lock::lock;
use crate::server::store::StoreError;
use crate::wire::error::{Failure, FailureCode};
use crate::wire::rest::AgentFacts;

/// How many messages an agent is shown that does not remember the conversation.
const MESSAGES_SHOWN: u32 = 40;

/// What others may read of a session's agent without asking its task.
#[derive(Debug, Clone, Default)]
pub struct Desk {
    pub trace: Trace,
    facts: Arc<Mutex<AgentFacts>>,
}

impl Desk {
    pub fn facts(&self) -> AgentFacts {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, AgentFacts> {
        lock(&self.facts)
    }
}

impl SessionTask {
    /// Starts or reaches the agent beside the loop, which stays free to answer meanwhile.
    pub(super) async fn open_agent(&mut self) {
        let (agent, request) = (Arc::clone(&self.agent), self.open_request().await);
        let opening = tokio::spawn(async move { agent.open(request).await });
        self.agent_state = AgentState::Opening(AbortOnDropHandle::new(opening));
    }

    /// Gathers what the agent needs to go on where it was.
    async fn open_request(&self) -> OpenRequest {
        let store = &self.around.store;
        OpenRequest {
            session_id: self.session_id.clone(),
            workspace: self.workspace.clone(),
            options: self.read_or_none(store.options(&self.session_id).await),
            agent_session: self.read_or_none(store.agent_session(&self.session_id).await),
            earlier: self.earlier().await,
            trace: self.around.desk.trace.clone(),
        }
    }

    /// Reads what was said before the turn under way.
    async fn earlier(&self) -> Vec<Message> {
        let page = self.around.store.message_page(&self.session_id, None, MESSAGES_SHOWN).await;
        let mut messages = self.read_or_none(page.map(|page| page.messages));
        let turn_id = self.running.as_ref().map(|running| &running.turn_id);
        messages.retain(|message| message.turn_id.is_none() || message.turn_id.as_ref() != turn_id);
        messages
    }

    /// Goes on without what cannot be read: an agent that knows less is better than none.
    fn read_or_none<T: Default>(&self, read: Result<T, StoreError>) -> T {
        read.unwrap_or_else(|error| {
            tracing::error!(session = %self.session_id, %error, "an agent starts with less");
            T::default()
        })
    }

    /// Keeps an option for every later start of the agent, and tells the one that runs.
    pub(super) async fn set_option(&mut self, name: String, value: String) -> Result<(), Failure> {
        if let Err(error) = self.around.store.set_option(&self.session_id, &name, &value).await {
            tracing::error!(session = %self.session_id, %error, "an option could not be saved");
            return Err(Failure::new(FailureCode::Internal, "The option could not be saved."));
        }
        match self.agent_state {
            AgentState::Open(_) => self.command_agent(AgentCommand::SetOption { name, value }),
            AgentState::Closed | AgentState::Opening(_) => Ok(()),
        }
    }

    /// Starts the agent though nothing is asked of it yet: somebody wants to know what it offers.
    pub(super) async fn rouse(&mut self, reply: Reply<Result<(), Failure>>) {
        self.roused_by.push(reply);
        match self.agent_state {
            AgentState::Open(_) => self.answer_rousers(&Ok(())),
            AgentState::Opening(_) => {}
            AgentState::Closed => self.open_agent().await,
        }
    }

    /// Takes in what a freshly opened agent said of itself, before anything else is done with it.
    pub(super) async fn hear_introduction(&mut self) {
        while let AgentState::Open(handle) = &mut self.agent_state
            && let Ok(happening) = handle.happenings.try_recv()
        {
            self.agent_did(happening).await;
        }
        self.answer_rousers(&Ok(()));
    }

    pub(super) fn answer_rousers(&mut self, outcome: &Result<(), Failure>) {
        for reply in self.roused_by.drain(..) {
            // Whoever asked may have left.
            let _ = reply.send(outcome.clone());
        }
    }

    /// Keeps what an agent tells of itself.
    pub(super) async fn agent_told(&mut self, happening: Happening) {
        let desk = &self.around.desk;
        match happening {
            Happening::Session(name) => {
                let store = &self.around.store;
                let kept = store.set_agent_session(&self.session_id, &name).await;
                self.read_or_none(kept);
                desk.lock().agent_session = Some(name);
            }
            Happening::Title(title) => self.take_title(&title).await,
            Happening::Options(options) => desk.lock().options = options,
            Happening::Commands(commands) => desk.lock().commands = commands,
            _ => {}
        }
    }

    async fn take_title(&mut self, proposed: &str) {
        let title = title_from_prompt(proposed);
        if title.is_empty() {
            return;
        }
        let changed = self.around.store.propose_title(&self.session_id, &title).await;
        if self.read_or_none(changed) {
            self.announce().await;
        }
    }
}
