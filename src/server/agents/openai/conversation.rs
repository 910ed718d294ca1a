//! One conversation with a model: commands in, happenings out, and at most one turn under way.

use std::sync::{Arc, Mutex};

use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use super::OpenAi;
use super::client::Model;
use super::history::{self, History};
use super::problem::Problem;
use super::work::{Shared, Work};
use crate::domain::message::{NoticeLevel, Usage};
use crate::server::agents::agent::{AgentCommand, AgentError, Ending, Happening, OpenRequest};
use crate::server::agents::trace::Trace;
use crate::server::agents::workspace::Workspace;
use crate::server::lock::lock;
use crate::wire::rest::{AgentChoice, AgentOption};

const MODEL: &str = "model";

/// Nobody listens to the happenings any more.
struct Left;

/// How a turn went: with a summary, where one was asked for.
type Outcome = Result<Option<String>, Problem>;

pub struct Conversation {
    openai: OpenAi,
    models: Vec<Model>,
    model: String,
    workspace: Workspace,
    trace: Trace,
    shared: Arc<Mutex<Shared>>,
    turn: Option<AbortOnDropHandle<Outcome>>,
    happenings: mpsc::Sender<Happening>,
}

impl Conversation {
    /// Reaches the server, and settles on a model.
    pub async fn open(
        openai: OpenAi,
        request: OpenRequest,
        happenings: mpsc::Sender<Happening>,
    ) -> Result<Self, AgentError> {
        request.check_folder()?;
        let chosen = request.options.get(MODEL).or(openai.settings.model.as_ref()).cloned();
        // A server that lists nothing may still answer for a model that is named.
        let models = match openai.client.models().await {
            Ok(models) => models,
            Err(Problem::Status { code: 404 | 405 | 501, .. }) => Vec::new(),
            Err(problem) => {
                let model = chosen.unwrap_or_default();
                return Err(AgentError::Unavailable(problem.words(&openai.settings, &model)));
            }
        };
        let first = || models.first().map(|model| model.id.clone());
        let Some(model) = chosen.or_else(first) else {
            let name = &openai.settings.name;
            return Err(AgentError::Unavailable(format!("{name} offers no model to talk to.")));
        };
        let history = History::new(&request.workspace, &request.earlier);
        let conversation = Self {
            openai,
            models,
            model,
            workspace: Workspace::new(request.workspace),
            trace: request.trace,
            shared: Arc::new(Mutex::new(Shared { history, ..Shared::default() })),
            turn: None,
            happenings,
        };
        // Whoever opens it still listens.
        let _ = conversation.tell_options().await;
        Ok(conversation)
    }

    /// Serves until the session leaves.
    pub async fn serve(mut self, mut commands: mpsc::Receiver<AgentCommand>) {
        let mut served = Ok(());
        while served.is_ok() {
            served = tokio::select! {
                command = commands.recv() => match command {
                    Some(command) => self.obey(command).await,
                    None => break,
                },
                outcome = end_of(&mut self.turn) => self.finish(outcome).await,
            };
        }
    }

    async fn obey(&mut self, command: AgentCommand) -> Result<(), Left> {
        match command {
            AgentCommand::Prompt { text, attachments } => {
                let prompt = history::prompt(&text, &attachments, &self.openai.blobs).await;
                {
                    let mut shared = lock(&self.shared);
                    shared.history.add(prompt);
                    shared.usage = Usage::default();
                }
                let work = self.work();
                let turn = tokio::spawn(async move { work.run().await.map(|()| None) });
                self.turn = Some(AbortOnDropHandle::new(turn));
                Ok(())
            }
            AgentCommand::Compress => {
                let words = "The model summarises the conversation to make room.".to_owned();
                self.say(Happening::Notice { level: NoticeLevel::Info, text: words }).await?;
                let work = self.work();
                let turn = tokio::spawn(async move { work.summarise().await.map(Some) });
                self.turn = Some(AbortOnDropHandle::new(turn));
                Ok(())
            }
            AgentCommand::Cancel => self.cancel().await,
            AgentCommand::Answer { request_id, option } => {
                lock(&self.shared).permissions.answer(&request_id, option);
                Ok(())
            }
            AgentCommand::SetOption { name, value } => {
                if name == MODEL && self.models.iter().any(|model| model.id == value) {
                    self.model = value;
                }
                self.tell_options().await
            }
        }
    }

    fn work(&self) -> Work {
        let chosen = self.models.iter().find(|model| model.id == self.model);
        Work {
            openai: self.openai.clone(),
            model: self.model.clone(),
            context: chosen.and_then(|model| model.context).or(self.openai.settings.context),
            workspace: self.workspace.clone(),
            shared: Arc::clone(&self.shared),
            happenings: self.happenings.clone(),
            trace: self.trace.clone(),
        }
    }

    /// Drops the turn, and with it the stream from the server and a command that runs.
    async fn cancel(&mut self) -> Result<(), Left> {
        let Some(turn) = self.turn.take() else { return Ok(()) };
        turn.abort();
        let _ = turn.await;
        self.close_turn();
        self.say(Happening::Ended(Ending::Cancelled)).await
    }

    async fn finish(&mut self, outcome: Outcome) -> Result<(), Left> {
        self.turn = None;
        self.close_turn();
        let problem = match outcome {
            Ok(None) => return self.say(Happening::Ended(Ending::Completed)).await,
            Ok(Some(summary)) if !summary.is_empty() => {
                self.say(Happening::Compacted { summary }).await?;
                return self.say(Happening::Ended(Ending::Completed)).await;
            }
            Ok(Some(_)) => Problem::Strange("no summary".to_owned()),
            Err(problem) => problem,
        };
        let message = problem.words(&self.openai.settings, &self.model);
        self.say(Happening::Failed { phase: "prompt".to_owned(), message }).await?;
        self.say(Happening::Ended(Ending::Failed)).await
    }

    /// Keeps what was said of an answer that did not come to its end.
    fn close_turn(&self) {
        let mut shared = lock(&self.shared);
        shared.history.break_off();
        shared.permissions.forget();
    }

    async fn tell_options(&self) -> Result<(), Left> {
        let choices = self.models.iter().map(|model| AgentChoice {
            value: model.id.clone(),
            name: model.id.clone(),
            description: String::new(),
        });
        let model = AgentOption {
            id: MODEL.to_owned(),
            name: "Model".to_owned(),
            value: self.model.clone(),
            choices: choices.collect(),
        };
        self.say(Happening::Options(vec![model])).await
    }

    async fn say(&self, happening: Happening) -> Result<(), Left> {
        self.happenings.send(happening).await.map_err(|_| Left)
    }
}

async fn end_of(turn: &mut Option<AbortOnDropHandle<Outcome>>) -> Outcome {
    match turn {
        Some(turn) => {
            turn.await.unwrap_or_else(|_| Err(Problem::Said("It was not finished.".to_owned())))
        }
        None => std::future::pending().await,
    }
}
