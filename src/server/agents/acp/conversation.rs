//! One conversation with an agent: commands in, happenings out, over whatever process there is.
//!
//! Rule at the door: the loop always listens to both its commands and its mailbox, so nothing here
//! waits for a reply that could only come through the mailbox.

use std::collections::HashMap;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use uuid::Uuid;

use super::Acp;
use super::connection::Refusal;
use super::content;
use super::opening::{Link, OPEN_WITHIN};
use super::permission;
use super::route::Mail;
use super::update::Translator;
use crate::domain::ids::RequestId;
use crate::domain::message::{Attachment, NoticeLevel, Role};
use crate::server::agents::agent::{AgentCommand, AgentError, Happening, OpenRequest};
use crate::server::agents::recollection::{FORGOTTEN, Memory, Recollection};

/// Nobody listens to the happenings any more.
pub struct Left;

/// The turn under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    Prompt,
    Compress,
}

pub struct Conversation {
    pub(super) acp: Acp,
    request: OpenRequest,
    /// Absent while no process is needed: it comes back with the next prompt.
    pub(super) link: Option<Link>,
    pub(super) translator: Translator,
    pub(super) turn: Option<Turn>,
    pub(super) cancelled: bool,
    /// What was said in the turn under way, which may be a summary.
    pub(super) said: String,
    /// Open questions, with the ids under which the agent wants its answers.
    pub(super) questions: HashMap<RequestId, Value>,
    /// The agent must be told what was said before it joined.
    needs_primer: bool,
    /// The agent forgot what it should remember, and a person has not been told yet.
    forgot: bool,
    pub(super) recollection: Recollection,
    happenings: mpsc::Sender<Happening>,
}

impl Conversation {
    pub async fn open(
        acp: Acp,
        request: OpenRequest,
        happenings: mpsc::Sender<Happening>,
    ) -> Result<Self, AgentError> {
        let link = Link::open(&acp, &request).await?;
        let translator = translator(&request, &link);
        let memory = link.memory;
        let recollection = Recollection::new(&request.earlier);
        let mut conversation = Self {
            acp,
            request,
            link: Some(link),
            translator,
            turn: None,
            cancelled: false,
            said: String::new(),
            questions: HashMap::new(),
            needs_primer: memory != Memory::Kept,
            forgot: memory == Memory::Lost,
            recollection,
            happenings,
        };
        // Whoever opens it still listens.
        let _ = conversation.introduce().await;
        Ok(conversation)
    }

    /// Serves until the session leaves or the agent dies in a turn.
    pub async fn serve(mut self, mut commands: mpsc::Receiver<AgentCommand>) {
        let mut served = Ok(());
        while served.is_ok() {
            served = tokio::select! {
                command = commands.recv() => match command {
                    Some(command) => self.obey(command).await,
                    None => break,
                },
                mail = next_mail(&mut self.link) => self.read(mail).await,
            };
        }
        if let Some(link) = self.link.take() {
            link.leave(self.turn.is_some());
        }
    }

    /// Tells what the session has to know of the agent.
    async fn introduce(&mut self) -> Result<(), Left> {
        let Some(link) = &self.link else { return Ok(()) };
        self.request.agent_session = Some(link.session.clone());
        let (session, commands) = (link.session.clone(), link.offer.commands.clone());
        self.say(Happening::Session(session)).await?;
        self.tell(Happening::Options(self.translator.settings.list())).await?;
        self.tell(Happening::Commands(commands)).await
    }

    async fn obey(&mut self, command: AgentCommand) -> Result<(), Left> {
        match command {
            AgentCommand::Prompt { text, attachments } => {
                self.begin(Turn::Prompt, &text, &attachments).await
            }
            AgentCommand::Compress => {
                let text = self.acp.compress_command().to_owned();
                self.begin(Turn::Compress, &text, &[]).await
            }
            AgentCommand::Cancel => {
                self.cancel();
                Ok(())
            }
            AgentCommand::Answer { request_id, option } => {
                let outcome = json!({ "outcome": "selected", "optionId": option });
                self.answer(&request_id, outcome);
                Ok(())
            }
            AgentCommand::SetOption { name, value } => self.set_option(name, value).await,
        }
    }

    /// Sends a prompt, in a new process where the last one is gone.
    async fn begin(
        &mut self,
        turn: Turn,
        words: &str,
        attachments: &[Attachment],
    ) -> Result<(), Left> {
        (self.turn, self.cancelled) = (Some(turn), false);
        self.said.clear();
        let mut primer = None;
        // A process that was idle may be let go at the very moment that it is needed.
        for last_try in [false, true] {
            if self.link.as_ref().is_none_or(|link| !link.connection.is_open())
                && let Err(error) = self.reopen().await?
            {
                return self.fail("start", error.to_string()).await;
            }
            if std::mem::take(&mut self.forgot) {
                let text = FORGOTTEN.to_owned();
                self.say(Happening::Notice { level: NoticeLevel::Info, text }).await?;
            }
            primer = primer.or_else(|| self.primer(turn, words));
            match self.send_prompt(words, attachments, primer.clone()).await {
                Err(Refusal::Gone(_)) if !last_try => self.link = None,
                Err(refusal) => return self.end(Err(refusal)).await,
                Ok(()) => break,
            }
        }
        self.recollection.add(Role::User, words);
        Ok(())
    }

    async fn send_prompt(
        &mut self,
        words: &str,
        attachments: &[Attachment],
        primer: Option<Value>,
    ) -> Result<(), Refusal> {
        self.translator.begin_turn();
        let Some(link) = &self.link else { return Ok(()) };
        let tastes = link.hello.tastes;
        let mut prompt =
            content::prompt(words, attachments, tastes, &self.acp.household.blobs).await;
        prompt.splice(0..0, primer);
        link.connection.begin_turn(&link.session, &prompt)
    }

    /// Tells what was said before, once, to an agent that does not know it. A command of the
    /// agent's own would not be taken for one behind it.
    fn primer(&mut self, turn: Turn, words: &str) -> Option<Value> {
        if turn == Turn::Compress || words.starts_with('/') {
            return None;
        }
        let needed = std::mem::take(&mut self.needs_primer);
        let primer = self.recollection.primer().filter(|_| needed)?;
        Some(json!({ "type": "text", "text": primer }))
    }

    async fn reopen(&mut self) -> Result<Result<(), AgentError>, Left> {
        match Link::open(&self.acp, &self.request).await {
            Ok(link) => {
                self.translator = translator(&self.request, &link);
                self.needs_primer = link.memory != Memory::Kept;
                self.forgot = link.memory == Memory::Lost;
                self.link = Some(link);
                self.introduce().await?;
                Ok(Ok(()))
            }
            Err(error) => Ok(Err(error)),
        }
    }

    /// Asks the agent to stop; questions that it still has are answered for the person.
    fn cancel(&mut self) {
        self.cancelled = true;
        for request_id in self.questions.keys().cloned().collect::<Vec<_>>() {
            self.answer(&request_id, json!({ "outcome": "cancelled" }));
        }
        if let (Some(link), Some(_)) = (&self.link, self.turn) {
            link.connection.notify("session/cancel", &json!({ "sessionId": link.session }));
        }
    }

    fn answer(&mut self, request_id: &RequestId, outcome: Value) {
        if let (Some(id), Some(link)) = (self.questions.remove(request_id), &self.link) {
            let result = json!({ "outcome": outcome });
            link.connection.respond(Some(&link.session), &id, &result);
        }
    }

    /// Sets an option, whose reply is waited for beside the loop, and remembers it for the next
    /// process.
    async fn set_option(&mut self, name: String, value: String) -> Result<(), Left> {
        self.request.options.insert(name.clone(), value.clone());
        let Some(link) = &self.link else { return Ok(()) };
        let settings = &mut self.translator.settings;
        if let Some((method, params)) = settings.request(&link.session, &name, &value) {
            settings.note(&name, &value, &Value::Null);
            let asked = link.connection.ask(method, params, None);
            tokio::spawn(async move {
                let Ok(asked) = asked else { return };
                if let Err(refusal) = asked.reply(OPEN_WITHIN).await {
                    tracing::warn!(%name, %value, ?refusal, "an option was not taken");
                }
            });
        }
        let options = settings.list();
        self.tell(Happening::Options(options)).await
    }

    async fn read(&mut self, mail: Option<Mail>) -> Result<(), Left> {
        match mail {
            Some(Mail::Update(update)) => {
                for happening in self.translator.translate(&update) {
                    self.tell(happening).await?;
                }
                Ok(())
            }
            Some(Mail::Permission { id, params }) => self.ask(id, &params).await,
            Some(Mail::TurnEnded(reply)) => self.end(reply).await,
            Some(Mail::Gone { how, let_go }) => self.lose(&how, let_go).await,
            // Another conversation has taken the session over.
            None => self.lose("was asked to go on elsewhere", true).await,
        }
    }

    async fn ask(&mut self, id: Value, params: &Value) -> Result<(), Left> {
        if let Some(call) = params.get("toolCall") {
            for happening in self.translator.tools.translate_asked(call) {
                self.tell(happening).await?;
            }
        }
        let name = format!("q-{}", Uuid::now_v7());
        let Ok(request_id) = RequestId::parse(&name) else { return Ok(()) };
        let question = permission::question(request_id.clone(), params);
        self.questions.insert(request_id.clone(), id);
        if self.turn.is_none() || self.cancelled || question.options.is_empty() {
            self.answer(&request_id, json!({ "outcome": "cancelled" }));
            return Ok(());
        }
        self.say(Happening::Question(question)).await
    }

    async fn tell(&mut self, happening: Happening) -> Result<(), Left> {
        if let Happening::Text(text) = &happening {
            self.said.push_str(text);
        }
        self.remember_offer(&happening);
        self.say(happening).await
    }

    /// Keeps what the agent offers for a conversation that takes the session over.
    fn remember_offer(&self, happening: &Happening) {
        let Some(link) = &self.link else { return };
        match happening {
            Happening::Options(_) => {
                let settings = self.translator.settings.clone();
                link.connection.with_routes(|it| it.offer(&link.session).settings = settings);
            }
            Happening::Commands(commands) => {
                let commands = commands.clone();
                link.connection.with_routes(|it| it.offer(&link.session).commands = commands);
            }
            _ => {}
        }
    }

    pub(super) async fn say(&self, happening: Happening) -> Result<(), Left> {
        self.happenings.send(happening).await.map_err(|_| Left)
    }
}

fn translator(request: &OpenRequest, link: &Link) -> Translator {
    let folder = request.workspace.display().to_string();
    Translator::new(folder, link.offer.settings.clone(), link.memory != Memory::Kept)
}

async fn next_mail(link: &mut Option<Link>) -> Option<Mail> {
    match link {
        Some(link) => link.mailbox.recv().await,
        None => std::future::pending().await,
    }
}
