//! One conversation with pi: commands in, happenings out, over whatever process there is.

use std::collections::HashMap;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;
use uuid::Uuid;

use super::Pi;
use super::dialog::{self, Dialog};
use super::ending::Rest;
use super::link::{Incoming, Link, Refusal};
use super::prompt::compose;
use super::update::Translator;
use crate::domain::ids::RequestId;
use crate::domain::message::{Attachment, NoticeLevel, Role};
use crate::server::agents::agent::{AgentCommand, AgentError, Happening, OpenRequest};
use crate::server::agents::json::text;
use crate::server::agents::recollection::{FORGOTTEN, Memory, Recollection};

/// Nobody listens to the happenings any more.
pub struct Left;

/// The turn under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// A prompt, and whether pi began to run for it.
    Prompt {
        started: bool,
    },
    Compress,
}

pub struct Conversation {
    pub(super) pi: Pi,
    request: OpenRequest,
    /// Absent while no process is needed: it comes back with the next prompt.
    pub(super) link: Option<Link>,
    pub(super) translator: Translator,
    pub(super) turn: Option<Turn>,
    /// The id of the command that began the turn, and whether its words are a command of pi's.
    pub(super) prompt_id: Option<String>,
    pub(super) is_command: bool,
    pub(super) cancelled: bool,
    /// The id of the command that stops the turn.
    pub(super) abort_id: Option<String>,
    pub(super) questions: HashMap<RequestId, Dialog>,
    /// Pi must be told what was said before it joined.
    needs_primer: bool,
    /// pi forgot what it should remember, and a person has not been told yet.
    forgot: bool,
    pub(super) recollection: Recollection,
    pub(super) rest: Rest,
    last_active: Instant,
    happenings: mpsc::Sender<Happening>,
}

impl Conversation {
    pub async fn open(
        pi: Pi,
        request: OpenRequest,
        happenings: mpsc::Sender<Happening>,
    ) -> Result<Self, AgentError> {
        let link = Link::open(&pi, &request).await?;
        let mut conversation = Self {
            translator: Translator::new(request.workspace.display().to_string()),
            needs_primer: link.memory != Memory::Kept,
            forgot: link.memory == Memory::Lost,
            recollection: Recollection::new(&request.earlier),
            pi,
            request,
            link: Some(link),
            turn: None,
            prompt_id: None,
            is_command: false,
            cancelled: false,
            abort_id: None,
            questions: HashMap::new(),
            rest: Rest::default(),
            last_active: Instant::now(),
            happenings,
        };
        // Whoever opens it still listens.
        let _ = conversation.introduce().await;
        Ok(conversation)
    }

    /// Serves until the session leaves or pi dies in a turn.
    pub async fn serve(mut self, mut commands: mpsc::Receiver<AgentCommand>) {
        let mut served = Ok(());
        while served.is_ok() {
            let due = self.due();
            served = tokio::select! {
                command = commands.recv() => match command {
                    Some(command) => self.obey(command).await,
                    None => break,
                },
                incoming = next(&mut self.link) => self.read(incoming).await,
                () = tokio::time::sleep_until(due) => {
                    self.do_due();
                    Ok(())
                }
            };
        }
    }

    /// Says when something is to be done though nothing comes.
    fn due(&self) -> Instant {
        let idle = self.last_active + self.pi.household.idle_after;
        match (self.rest.due, self.turn) {
            (Some(due), _) => due,
            (None, None) if self.link.is_some() => idle,
            _ => Instant::now() + self.pi.household.idle_after,
        }
    }

    fn do_due(&mut self) {
        if self.rest.due.is_some() {
            self.ask_for_rest();
        } else if self.turn.is_none() && self.last_active.elapsed() >= self.pi.household.idle_after
        {
            self.link = None;
        }
    }

    /// Tells what the session has to know of pi.
    async fn introduce(&mut self) -> Result<(), Left> {
        let Some(link) = &self.link else { return Ok(()) };
        let file = link.file.clone();
        let (options, commands) = (link.settings.list(), link.commands.clone());
        if let Some(file) = file {
            self.request.agent_session = Some(file.clone());
            self.say(Happening::Session(file)).await?;
        }
        self.say(Happening::Options(options)).await?;
        self.say(Happening::Commands(commands)).await
    }

    async fn obey(&mut self, command: AgentCommand) -> Result<(), Left> {
        self.last_active = Instant::now();
        match command {
            AgentCommand::Prompt { text, attachments } => self.prompt(&text, &attachments).await,
            AgentCommand::Compress => {
                let compact = json!({ "type": "compact" });
                self.begin(Turn::Compress, false).await?;
                self.send(compact);
                Ok(())
            }
            AgentCommand::Cancel => {
                self.cancel();
                Ok(())
            }
            AgentCommand::Answer { request_id, option } => {
                self.answer(&request_id, Some(&option));
                Ok(())
            }
            AgentCommand::SetOption { name, value } => self.set_option(name, value).await,
        }
    }

    async fn prompt(&mut self, words: &str, attachments: &[Attachment]) -> Result<(), Left> {
        self.begin(Turn::Prompt { started: false }, words.starts_with('/')).await?;
        if self.turn.is_none() {
            return Ok(());
        }
        let mut prompt = compose(words, attachments, &self.pi.household.blobs).await;
        // A command of pi's own would not be taken for one behind other words.
        if !self.is_command
            && std::mem::take(&mut self.needs_primer)
            && let Some(primer) = self.recollection.primer()
        {
            let message = text(&prompt, "message").unwrap_or_default();
            prompt["message"] = format!("{primer}\n\n{message}").into();
        }
        self.recollection.add(Role::User, words);
        self.send(prompt);
        Ok(())
    }

    /// Makes sure of a process for a turn; where there is none to be had, the turn is over.
    async fn begin(&mut self, turn: Turn, is_command: bool) -> Result<(), Left> {
        (self.turn, self.is_command) = (Some(turn), is_command);
        (self.cancelled, self.abort_id) = (false, None);
        self.translator.begin_turn();
        if self.link.as_mut().is_none_or(Link::is_gone) {
            match Link::open(&self.pi, &self.request).await {
                Ok(link) => {
                    self.needs_primer = link.memory != Memory::Kept;
                    self.forgot = link.memory == Memory::Lost;
                    self.link = Some(link);
                    self.introduce().await?;
                }
                Err(error) => {
                    self.link = None;
                    return self.fail("start", error.to_string()).await;
                }
            }
        }
        if std::mem::take(&mut self.forgot) {
            let text = FORGOTTEN.to_owned();
            self.say(Happening::Notice { level: NoticeLevel::Info, text }).await?;
        }
        Ok(())
    }

    fn send(&mut self, command: Value) {
        if let (Some(link), Some(_)) = (&mut self.link, self.turn) {
            self.prompt_id = Some(link.send(command));
        }
    }

    /// Asks pi to stop; questions that it still has are answered for the person.
    fn cancel(&mut self) {
        self.cancelled = true;
        for request_id in self.questions.keys().cloned().collect::<Vec<_>>() {
            self.answer(&request_id, None);
        }
        if let (Some(link), Some(_)) = (&mut self.link, self.turn) {
            self.abort_id = Some(link.send(json!({ "type": "abort" })));
        }
    }

    fn answer(&mut self, request_id: &RequestId, option: Option<&str>) {
        if let (Some(dialog), Some(link)) = (self.questions.remove(request_id), &self.link) {
            link.tell(&dialog.response(option));
        }
    }

    /// Sets an option, and remembers it for the next process.
    async fn set_option(&mut self, name: String, value: String) -> Result<(), Left> {
        self.request.options.insert(name.clone(), value.clone());
        let Some(link) = &mut self.link else { return Ok(()) };
        match link.set(&name, &value).await {
            Ok(()) => {}
            Err(Refusal::Gone(how)) => return self.lose(&how, false).await,
            Err(refusal) => tracing::warn!(%name, %value, ?refusal, "an option was not taken"),
        }
        self.tell_options().await
    }

    async fn tell_options(&mut self) -> Result<(), Left> {
        let Some(link) = &self.link else { return Ok(()) };
        let options = link.settings.list();
        self.say(Happening::Options(options)).await
    }

    async fn read(&mut self, incoming: Incoming) -> Result<(), Left> {
        let message = match incoming {
            Incoming::Message(message) => message,
            Incoming::Gone(how) => return self.lose(&how, false).await,
            Incoming::LetGo(how) => return self.lose(how, true).await,
        };
        self.last_active = Instant::now();
        match text(&message, "type").unwrap_or("nothing") {
            "response" => return self.read_reply(&message).await,
            "extension_ui_request" => return self.ask(&message).await,
            "thinking_level_changed" => {
                if let Some(link) = &mut self.link {
                    link.settings.set_level(text(&message, "level").unwrap_or_default());
                }
                return self.tell_options().await;
            }
            "session_info_changed" => {
                return match text(&message, "name").filter(|name| !name.trim().is_empty()) {
                    Some(name) => self.say(Happening::Title(name.to_owned())).await,
                    None => Ok(()),
                };
            }
            "agent_start" => {
                if let Some(Turn::Prompt { started }) = &mut self.turn {
                    *started = true;
                }
            }
            _ => {}
        }
        let limit = self.link.as_ref().and_then(|link| link.settings.context_limit());
        for happening in self.translator.translate(&message, self.cancelled, limit) {
            self.say(happening).await?;
        }
        self.watch_end(&message).await
    }

    async fn ask(&mut self, request: &Value) -> Result<(), Left> {
        let Some(dialog) = Dialog::read(request) else {
            self.translator.active = true;
            return match dialog::show(request) {
                Some(happening) => self.say(happening).await,
                None => Ok(()),
            };
        };
        let name = format!("q-{}", Uuid::now_v7());
        let Ok(request_id) = RequestId::parse(&name) else { return Ok(()) };
        let question = dialog.question(request_id.clone(), request);
        self.questions.insert(request_id.clone(), dialog);
        if self.turn.is_none() || self.cancelled || question.options.is_empty() {
            self.answer(&request_id, None);
            return Ok(());
        }
        self.say(Happening::Question(question)).await
    }

    pub(super) async fn say(&self, happening: Happening) -> Result<(), Left> {
        self.happenings.send(happening).await.map_err(|_| Left)
    }
}

async fn next(link: &mut Option<Link>) -> Incoming {
    match link {
        Some(link) => link.next().await,
        None => std::future::pending().await,
    }
}
