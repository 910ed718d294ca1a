//! The built-in demo agent: it needs no key and no network, streams like a real agent, and takes
//! directives so that every path can be tried by hand and by tests.
//!
//! Rule at the door: the same prompt in the same workspace gives the same happenings; only the
//! request ids of questions differ, and what `[[clock]]` says. Stopping a turn means dropping its future, so whatever a turn
//! holds must end when it is dropped.

mod conversation;
pub mod directive;
pub mod form;
mod ledger;
mod phrase;
mod picture;
mod resume;
mod sample;
mod script;
mod tools;
mod turn;

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use futures::future::BoxFuture;
use tokio::sync::mpsc;

use super::agent::{
    Agent, AgentCommand, AgentError, AgentHandle, Happening, OpenRequest, Resumption,
};
use super::workspace::Workspace;
use crate::domain::ids::RequestId;
use crate::domain::message::Attachment;
use crate::wire::rest::AgentInfo;
use conversation::{Conversation, Stop};

const COMMAND_LIMIT: Duration = Duration::from_secs(30);

/// An agent that plays the part of a real one.
#[derive(Debug, Clone)]
pub struct Demo {
    pace: Duration,
    command_limit: Duration,
}

impl Demo {
    /// Makes a demo agent that waits `pace` after each word.
    pub fn new(pace: Duration) -> Self {
        Self { pace, command_limit: COMMAND_LIMIT }
    }

    /// Sets how long a command may run before it is stopped.
    pub fn with_command_limit(self, command_limit: Duration) -> Self {
        Self { command_limit, ..self }
    }
}

impl Agent for Demo {
    fn info(&self) -> AgentInfo {
        AgentInfo {
            id: "demo".to_owned(),
            name: "Demo".to_owned(),
            description: "Try everything without a key: it answers, lists and reads your folder, \
                          asks before it changes anything, and explains itself when you type /help."
                .to_owned(),
            missing: None,
        }
    }

    /// Starts one task for the session; a folder that cannot be opened is said by the tools that
    /// need it, so that a conversation can always begin.
    fn open(&self, request: OpenRequest) -> BoxFuture<'_, Result<AgentHandle, AgentError>> {
        Box::pin(async move {
            let (handle, inbox, outbox) = AgentHandle::pair();
            let agent = self.clone();
            tokio::spawn(agent.serve(request, inbox, outbox));
            Ok(handle)
        })
    }

    fn resume(&self, resumption: Resumption) -> AgentCommand {
        resume::command(&resumption)
    }
}

impl Demo {
    async fn serve(
        self,
        request: OpenRequest,
        commands: mpsc::Receiver<AgentCommand>,
        happenings: mpsc::Sender<Happening>,
    ) {
        // Unbounded, so that forwarding an answer never delays a Cancel behind it.
        let (answers, received) = mpsc::unbounded_channel();
        let mut inbox = Inbox { commands, answers, waiting: VecDeque::new() };
        let mut conversation = Conversation::new(
            &request.session_id,
            Workspace::new(request.workspace),
            self,
            happenings,
            received,
        );
        while let Some(job) = inbox.next().await {
            let result = inbox.attend(&mut conversation, job).await;
            tokio::select! {
                closed = conversation.close(result) => if closed.is_err() { return },
                () = inbox.until_left() => return,
            }
        }
    }
}

/// What a person gave to an open question: its request and the option taken.
type Answer = (RequestId, String);

/// Something that ends with one `Ended`.
enum Job {
    Prompt { text: String, attachments: Vec<Attachment> },
    Compress,
}

/// The commands of one session, with those that came while a job was under way.
struct Inbox {
    commands: mpsc::Receiver<AgentCommand>,
    answers: mpsc::UnboundedSender<Answer>,
    waiting: VecDeque<Job>,
}

impl Inbox {
    /// Waits for the next job; `None` says that the session left.
    async fn next(&mut self) -> Option<Job> {
        while self.waiting.is_empty() {
            let command = self.commands.recv().await?;
            self.keep(command);
        }
        self.waiting.pop_front()
    }

    /// Runs a job while it listens for Cancel, for answers and for what comes next.
    async fn attend(&mut self, conversation: &mut Conversation, job: Job) -> Result<(), Stop> {
        let mut running = pin!(turn::run(conversation, job));
        loop {
            tokio::select! {
                biased;
                command = self.commands.recv() => match command {
                    None => return Err(Stop::Left),
                    Some(AgentCommand::Cancel) => return Err(Stop::Cancelled),
                    Some(AgentCommand::Answer { request_id, option }) => {
                        let _ = self.answers.send((request_id, option));
                    }
                    Some(later) => self.keep(later),
                },
                result = &mut running => return result,
            }
        }
    }

    /// Collects later jobs until the session leaves.
    async fn until_left(&mut self) {
        while let Some(command) = self.commands.recv().await {
            self.keep(command);
        }
    }

    /// Remembers a job; a Cancel or an Answer with nothing under way means nothing, and there are
    /// no options to set.
    fn keep(&mut self, command: AgentCommand) {
        match command {
            AgentCommand::Prompt { text, attachments } => {
                self.waiting.push_back(Job::Prompt { text, attachments });
            }
            AgentCommand::Compress => self.waiting.push_back(Job::Compress),
            AgentCommand::Cancel | AgentCommand::Answer { .. } | AgentCommand::SetOption { .. } => {
            }
        }
    }
}
