//! How a session is opened in a process: new, resumed, or told anew by an agent that cannot resume.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::Acp;
use super::connection::{Connection, Refusal, Reply};
use super::options::Settings;
use super::pool::Hello;
use super::route::{Mail, Offer};
use crate::server::agents::agent::{AgentError, OpenRequest};
use crate::server::agents::json::{at, list, text};
use crate::server::agents::recollection::Memory;

/// How long an agent may take to open a session; some load half the world first.
pub const OPEN_WITHIN: Duration = Duration::from_secs(90);

/// The code by which an agent says that it wants a login first.
const LOGIN_FIRST: i64 = -32000;

/// A session that is open in a process.
pub struct Link {
    pub connection: Connection,
    pub hello: Hello,
    pub session: String,
    pub mailbox: mpsc::Receiver<Mail>,
    place: u64,
    pub offer: Offer,
    /// How the agent came to know the session.
    pub memory: Memory,
}

impl Link {
    /// Opens a session in the process of its folder.
    pub async fn open(acp: &Acp, request: &OpenRequest) -> Result<Self, AgentError> {
        request.check_folder()?;
        let (connection, hello) = acp.pool.connect(&request.workspace).await?;
        let opening = Opening { acp, request, connection, hello };
        let mut link = match &request.agent_session {
            None => opening.begin(Memory::New).await?,
            Some(session) => match opening.recall(session).await {
                Ok(told) => opening.attach(session.clone(), &told, Memory::Kept)?,
                Err(Refusal::Gone(how)) => return Err(acp.unavailable(&how)),
                Err(refusal) => {
                    tracing::warn!(agent = %acp.name(), ?refusal, "a session is not remembered");
                    opening.begin(Memory::Lost).await?
                }
            },
        };
        for (name, value) in &request.options {
            link.set(name, value).await;
        }
        Ok(link)
    }

    /// Joins the messages of a session that nobody has open, before the agent is asked for them.
    pub async fn listen(
        acp: &Acp,
        request: &OpenRequest,
        session: &str,
    ) -> Result<Self, AgentError> {
        request.check_folder()?;
        let (connection, hello) = acp.pool.connect(&request.workspace).await?;
        if connection.with_routes(|routes| routes.is_open(session)) {
            return Err(acp.unavailable("has this conversation open already."));
        }
        let opening = Opening { acp, request, connection, hello };
        opening.attach(session.to_owned(), &Value::Null, Memory::Kept)
    }

    /// Sets an option where the agent knows it. One that it refuses stays as it was.
    pub async fn set(&mut self, name: &str, value: &str) -> Option<String> {
        let (method, params) = self.offer.settings.request(&self.session, name, value)?;
        match self.connection.request(method, params, OPEN_WITHIN).await {
            Ok(reply) => {
                self.offer.settings.note(name, value, &reply);
                None
            }
            Err(Refusal::Refused { message, .. }) => Some(message),
            Err(Refusal::Gone(_) | Refusal::Late) => None,
        }
    }

    /// Leaves the session. One that was left in the middle of a turn may never come to rest, so a
    /// process without any other is let go with it.
    pub fn leave(self, in_turn: bool) {
        let left = self.connection.leave(&self.session, self.place);
        if !left.own {
            return;
        }
        if in_turn {
            let params = json!({ "sessionId": self.session });
            self.connection.notify("session/cancel", &params);
        }
        if in_turn && left.last {
            return self.connection.let_go();
        }
        if self.hello.can_close && (self.hello.can_resume || self.hello.can_load) {
            let params = json!({ "sessionId": self.session });
            let connection = self.connection;
            tokio::spawn(async move {
                // Whether it liked to be closed makes no difference here.
                let _ = connection.request("session/close", params, OPEN_WITHIN).await;
            });
        }
    }
}

struct Opening<'a> {
    acp: &'a Acp,
    request: &'a OpenRequest,
    connection: Connection,
    hello: Hello,
}

impl Opening<'_> {
    async fn begin(self, memory: Memory) -> Result<Link, AgentError> {
        let params = json!({ "cwd": self.request.workspace, "mcpServers": [] });
        let told = self.connection.request("session/new", params, OPEN_WITHIN).await;
        let told = told.map_err(|refusal| self.explain(&refusal))?;
        let session = text(&told, "sessionId").map(str::to_owned).ok_or_else(|| {
            self.acp.unavailable("opened a conversation without giving it a name")
        })?;
        self.attach(session, &told, memory)
    }

    /// Finds a session that the agent should remember: one that is open in the process is taken
    /// over, another is resumed or, where the agent cannot, told anew.
    async fn recall(&self, session: &str) -> Reply {
        if self.connection.with_routes(|routes| routes.is_open(session)) {
            return Ok(Value::Null);
        }
        let method = match (self.hello.can_resume, self.hello.can_load) {
            (true, _) => "session/resume",
            (false, true) => "session/load",
            // What it cannot find again it still has, as long as its process lives.
            (false, false) if self.connection.with_routes(|routes| routes.was_open(session)) => {
                return Ok(Value::Null);
            }
            (false, false) => {
                let message = "it cannot go on with earlier conversations".to_owned();
                return Err(Refusal::Refused { code: 0, message });
            }
        };
        self.connection.with_routes(|routes| routes.expect_retelling(session));
        let params =
            json!({ "sessionId": session, "cwd": self.request.workspace, "mcpServers": [] });
        self.connection.ask(method, params, Some(session))?.reply(OPEN_WITHIN).await
    }

    fn attach(self, session: String, told: &Value, memory: Memory) -> Result<Link, AgentError> {
        let attached = self.connection.attach(&session, &self.request.trace);
        let attached = attached.map_err(|refusal| self.explain(&refusal))?;
        let offer = self.connection.with_routes(|routes| {
            let offer = routes.offer(&session);
            if !told.is_null() {
                offer.settings = Settings::read(told);
            }
            offer.clone()
        });
        Ok(Link {
            connection: self.connection,
            hello: self.hello,
            session,
            mailbox: attached.mailbox,
            place: attached.place,
            offer,
            memory,
        })
    }

    fn explain(&self, refusal: &Refusal) -> AgentError {
        match refusal {
            Refusal::Refused { code: LOGIN_FIRST, message } => {
                let hint = self.hello.login_hint.as_deref().unwrap_or(message);
                let name = self.acp.name();
                AgentError::Unavailable(format!("{name} wants you to sign in first: {hint}"))
            }
            refusal => self.acp.explain(refusal, "did not start"),
        }
    }
}

impl Hello {
    /// Reads how an agent introduces itself.
    pub fn read(told: &Value) -> Self {
        let can = |name| {
            let found = at(told, &["agentCapabilities", "sessionCapabilities", name]);
            found.is_some_and(|found| !found.is_null() && found != false)
        };
        let hints: Vec<_> = list(told, "authMethods")
            .iter()
            .filter_map(|method| text(method, "description").or_else(|| text(method, "name")))
            .collect();
        let loads = at(told, &["agentCapabilities", "loadSession"]);
        Self {
            can_resume: can("resume"),
            can_close: can("close"),
            can_list: can("list"),
            can_load: loads.and_then(Value::as_bool).unwrap_or_default(),
            tastes: super::content::Tastes::read(told),
            login_hint: (!hints.is_empty()).then(|| hints.join(", or ")),
        }
    }
}
