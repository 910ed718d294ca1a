//! One process that speaks ACP: what is sent to it, what waits for its replies, and where its
//! messages go. Many sessions share it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::route::{Mail, Route, Routes};
use crate::server::agents::process::Input;
use crate::server::agents::trace::Trace;
use crate::server::lock::lock;
use crate::wire::rest::Speaker;

/// How long a process without any conversation is kept for the next one.
const LINGER: Duration = Duration::from_secs(30);

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The agent said no.
    Refused {
        code: i64,
        message: String,
    },
    /// The process is gone, and this is how it went.
    Gone(String),
    Late,
}

pub type Reply = Result<Value, Refusal>;

/// Who waits for the reply to a request.
enum Waiter {
    /// A caller; where the request opens a session, its messages are kept from then on.
    Caller { reply: oneshot::Sender<Reply>, opens: Option<String> },
    /// The session whose turn the reply ends: it goes to its mailbox, behind the turn's messages.
    Turn { session: String },
}

struct State {
    /// Absent once the process was let go.
    input: Option<Input>,
    requests: u64,
    waiting: HashMap<u64, Waiter>,
    routes: Routes,
    last_active: Instant,
    gone: Option<String>,
}

/// A process and its sessions; a clone is another hand on the same.
#[derive(Clone)]
pub struct Connection {
    state: Arc<Mutex<State>>,
    /// What concerns no session in particular.
    trace: Trace,
}

impl Connection {
    pub fn new(input: Input, trace: Trace) -> Self {
        let state = State {
            input: Some(input),
            requests: 0,
            waiting: HashMap::new(),
            routes: Routes::default(),
            last_active: Instant::now(),
            gone: None,
        };
        Self { state: Arc::new(Mutex::new(state)), trace }
    }

    pub fn is_open(&self) -> bool {
        self.state().input.is_some()
    }

    /// Sends a request and waits for its reply.
    pub async fn request(&self, method: &str, params: Value, within: Duration) -> Reply {
        self.ask(method, params, None)?.reply(within).await
    }

    /// Sends a request, at once and before anything that is sent later; its reply is waited for
    /// apart. Where it opens a session known by name, that session's messages are kept from then on.
    pub fn ask(&self, method: &str, params: Value, opens: Option<&str>) -> Result<Asked, Refusal> {
        let (reply, answer) = oneshot::channel();
        let waiter = Waiter::Caller { reply, opens: opens.map(str::to_owned) };
        self.state().ask(&self.trace, method, params, waiter)?;
        Ok(Asked { answer })
    }

    /// Sends a prompt; the turn's messages and its end come to the session's mailbox.
    pub fn begin_turn(&self, session: &str, prompt: &[Value]) -> Result<(), Refusal> {
        let params = json!({ "sessionId": session, "prompt": prompt });
        let waiter = Waiter::Turn { session: session.to_owned() };
        self.state().ask(&self.trace, "session/prompt", params, waiter)
    }

    pub fn notify(&self, method: &str, params: &Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.state().send(&self.trace, session_of(params), &message);
    }

    /// Answers a request of the agent.
    pub fn respond(&self, session: Option<&str>, id: &Value, result: &Value) {
        let message = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        self.state().send(&self.trace, session, &message);
    }

    pub fn respond_unknown(&self, id: &Value, method: &str) {
        let error = json!({ "code": -32601, "message": format!("{method} is not offered here") });
        let message = json!({ "jsonrpc": "2.0", "id": id, "error": error });
        self.state().send(&self.trace, None, &message);
    }

    /// Changes where messages go.
    pub fn with_routes<T>(&self, change: impl FnOnce(&mut Routes) -> T) -> T {
        change(&mut self.state().routes)
    }

    /// Joins a session's messages, from those on that came before anybody listened. Whoever
    /// listened before does so no longer.
    pub fn attach(&self, session: &str, trace: &Trace) -> Result<Attached, Refusal> {
        let mut state = self.state();
        if let Some(how) = &state.gone {
            return Err(Refusal::Gone(how.clone()));
        }
        trace.copy_from(&self.trace);
        Ok(state.routes.attach(session, trace))
    }

    /// Leaves a session, unless another has taken it over. Tells whether nobody is left.
    pub fn leave(&self, session: &str, place: u64) -> Left {
        let mut state = self.state();
        let own = state.routes.detach(session, place);
        if own {
            let ours =
                |waiter: &Waiter| matches!(waiter, Waiter::Turn { session: it } if it == session);
            state.waiting.retain(|_, waiter| !ours(waiter));
        }
        Left { own, last: !state.routes.any_open() }
    }

    /// Lets the process go if nothing has happened in it for long enough.
    pub fn retire_if_idle(&self, after: Duration) -> bool {
        let mut state = self.state();
        let after = if state.routes.any_open() { after } else { after.min(LINGER) };
        let given_up =
            |waiter: &Waiter| matches!(waiter, Waiter::Caller { reply, .. } if reply.is_closed());
        state.waiting.retain(|_, waiter| !given_up(waiter));
        let idle = state.waiting.is_empty() && state.last_active.elapsed() >= after;
        if idle {
            state.input = None;
        }
        state.input.is_none()
    }

    /// Lets the process go: its keeper makes sure that it leaves.
    pub fn let_go(&self) {
        self.state().input = None;
    }

    /// Takes note of a message that concerns no session.
    pub fn keep(&self, text: &str) {
        self.trace.keep(Speaker::Agent, text);
        self.state().routes.keep_everywhere(Speaker::Agent, text);
    }

    /// Passes a message on to its session.
    pub async fn deliver(&self, session: &str, mail: Mail, text: &str) {
        let mailbox = {
            let mut state = self.state();
            state.last_active = Instant::now();
            state.routes.accept(session, mail, text)
        };
        if let Some((mailbox, mail)) = mailbox {
            // A session that left meanwhile misses nothing that it would have used.
            let _ = mailbox.send(mail).await;
        }
    }

    /// Passes a reply on to who waits for it.
    pub async fn settle(&self, id: u64, reply: Reply, text: &str) {
        let waiter = {
            let mut state = self.state();
            state.last_active = Instant::now();
            let waiter = state.waiting.remove(&id);
            if let Some(Waiter::Caller { opens: Some(session), .. }) = &waiter {
                state.routes.listen(session);
            }
            waiter
        };
        match waiter {
            Some(Waiter::Turn { session }) => {
                self.deliver(&session, Mail::TurnEnded(reply), text).await;
            }
            Some(Waiter::Caller { reply: caller, .. }) => {
                self.keep(text);
                let _ = caller.send(reply);
            }
            None => self.keep(text),
        }
    }

    /// Tells everyone that the process is gone.
    pub async fn close(&self, how: &str) {
        let (waiting, mailboxes, let_go) = {
            let mut state = self.state();
            let let_go = state.input.take().is_none();
            state.gone = Some(how.to_owned());
            (std::mem::take(&mut state.waiting), state.routes.close(), let_go)
        };
        for waiter in waiting.into_values() {
            if let Waiter::Caller { reply, .. } = waiter {
                let _ = reply.send(Err(Refusal::Gone(how.to_owned())));
            }
        }
        for mailbox in mailboxes {
            let _ = mailbox.send(Mail::Gone { how: how.to_owned(), let_go }).await;
        }
    }

    /// A panic elsewhere must not take every session of the process with it.
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

/// A request on its way. One that is not waited for any more is forgotten when the reply comes, or
/// when the process is looked over.
pub struct Asked {
    answer: oneshot::Receiver<Reply>,
}

impl Asked {
    pub async fn reply(self, within: Duration) -> Reply {
        match tokio::time::timeout(within, self.answer).await {
            Ok(Ok(reply)) => reply,
            Ok(Err(_)) => Err(Refusal::Gone("was let go".to_owned())),
            Err(_) => Err(Refusal::Late),
        }
    }
}

/// A place at a session's messages.
pub struct Attached {
    pub mailbox: mpsc::Receiver<Mail>,
    pub place: u64,
}

/// How a session was left.
pub struct Left {
    /// Nobody had taken the session over.
    pub own: bool,
    /// No other session is open in the process.
    pub last: bool,
}

impl State {
    fn ask(
        &mut self,
        trace: &Trace,
        method: &str,
        params: Value,
        waiter: Waiter,
    ) -> Result<(), Refusal> {
        if self.input.is_none() {
            let how = self.gone.clone().unwrap_or_else(|| "was let go".to_owned());
            return Err(Refusal::Gone(how));
        }
        self.requests += 1;
        let id = self.requests;
        self.waiting.insert(id, waiter);
        let session = session_of(&params).map(str::to_owned);
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.send(trace, session.as_deref(), &message);
        Ok(())
    }

    fn send(&mut self, trace: &Trace, session: Option<&str>, message: &Value) {
        self.last_active = Instant::now();
        let line = message.to_string();
        match session.and_then(|session| self.routes.get(session)) {
            Some(Route::Open { trace, .. }) => trace.keep(Speaker::Server, &line),
            _ => trace.keep(Speaker::Server, &line),
        }
        if let Some(input) = &self.input {
            input.send(line);
        }
    }
}

fn session_of(params: &Value) -> Option<&str> {
    params.get("sessionId").and_then(Value::as_str)
}
