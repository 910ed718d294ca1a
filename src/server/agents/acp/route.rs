//! Where the messages of a session go, before and after somebody listens.

use std::collections::HashMap;

use serde_json::Value;
use tokio::sync::mpsc;

use super::connection::{Attached, Reply};
use super::options::Settings;
use crate::server::agents::trace::Trace;
use crate::wire::rest::{SlashCommand, Speaker};

/// How many messages a session may be behind its process.
const MAIL_WAITING: usize = 1024;

/// How many messages are kept for a session that nobody listens to yet, and for how many such.
const EARLY_MAIL: usize = 512;
const EARLY_SESSIONS: usize = 64;

/// What a process has for one session.
#[derive(Debug)]
pub enum Mail {
    /// One `session/update`.
    Update(Value),
    /// The agent asks for permission, and wants the answer under this id.
    Permission { id: Value, params: Value },
    /// The reply to the prompt under way.
    TurnEnded(Reply),
    /// The process is gone, this is how it went, and whether it was asked to.
    Gone { how: String, let_go: bool },
}

/// What happens to the messages of one session.
pub enum Route {
    /// Nobody listens yet: they are kept. While the agent tells an old conversation anew, what was
    /// said in it is left out, for it is stored here already.
    Early {
        kept: Vec<Mail>,
        retelling: bool,
    },
    Open {
        mailbox: mpsc::Sender<Mail>,
        trace: Trace,
        place: u64,
    },
    /// Whoever listened has left.
    Left,
}

/// What an agent offers in a session, for whoever takes the session over.
#[derive(Debug, Clone, Default)]
pub struct Offer {
    pub settings: Settings,
    pub commands: Vec<SlashCommand>,
}

#[derive(Default)]
pub struct Routes {
    by_session: HashMap<String, Route>,
    offers: HashMap<String, Offer>,
    places: u64,
}

impl Routes {
    pub fn get(&self, session: &str) -> Option<&Route> {
        self.by_session.get(session)
    }

    pub fn is_open(&self, session: &str) -> bool {
        matches!(self.get(session), Some(Route::Open { .. }))
    }

    /// Tells whether a session was open in this process before.
    pub fn was_open(&self, session: &str) -> bool {
        matches!(self.get(session), Some(Route::Left))
    }

    pub fn any_open(&self) -> bool {
        self.by_session.values().any(|route| matches!(route, Route::Open { .. }))
    }

    pub fn offer(&mut self, session: &str) -> &mut Offer {
        self.offers.entry(session.to_owned()).or_default()
    }

    /// Expects a session to be told anew.
    pub fn expect_retelling(&mut self, session: &str) {
        let route = Route::Early { kept: Vec::new(), retelling: true };
        self.by_session.insert(session.to_owned(), route);
    }

    /// Keeps everything from now on.
    pub fn listen(&mut self, session: &str) {
        if let Some(Route::Early { retelling, .. }) = self.by_session.get_mut(session) {
            *retelling = false;
        }
    }

    pub fn attach(&mut self, session: &str, trace: &Trace) -> Attached {
        let (sender, mailbox) = mpsc::channel(MAIL_WAITING);
        self.places += 1;
        let place = self.places;
        let route = Route::Open { mailbox: sender.clone(), trace: trace.clone(), place };
        if let Some(Route::Early { kept, .. }) = self.by_session.insert(session.to_owned(), route) {
            for mail in kept {
                // There is room for more than was kept.
                let _ = sender.try_send(mail);
            }
        }
        Attached { mailbox, place }
    }

    /// Tells whether the place was still the one that messages went to.
    pub fn detach(&mut self, session: &str, place: u64) -> bool {
        let own = matches!(
            self.by_session.get(session),
            Some(Route::Open { place: current, .. }) if *current == place
        );
        if own {
            self.by_session.insert(session.to_owned(), Route::Left);
        }
        own
    }

    /// Keeps a message, or gives the mailbox that it goes to.
    pub fn accept(
        &mut self,
        session: &str,
        mail: Mail,
        text: &str,
    ) -> Option<(mpsc::Sender<Mail>, Mail)> {
        let early = |route: &&Route| matches!(route, Route::Early { .. });
        let early = self.by_session.values().filter(early).count();
        match self.by_session.get_mut(session) {
            Some(Route::Open { mailbox, trace, .. }) => {
                trace.keep(Speaker::Agent, text);
                return Some((mailbox.clone(), mail));
            }
            Some(Route::Early { kept, retelling }) => {
                if kept.len() < EARLY_MAIL && !(*retelling && retells(&mail)) {
                    kept.push(mail);
                }
            }
            None if early < EARLY_SESSIONS => {
                let route = Route::Early { kept: vec![mail], retelling: false };
                self.by_session.insert(session.to_owned(), route);
            }
            Some(Route::Left) | None => {}
        }
        None
    }

    /// Shows a message to everyone who looks for a reason.
    pub fn keep_everywhere(&self, from: Speaker, text: &str) {
        for route in self.by_session.values() {
            if let Route::Open { trace, .. } = route {
                trace.keep(from, text);
            }
        }
    }

    /// Ends all routes, and gives the mailboxes of those who listened.
    pub fn close(&mut self) -> Vec<mpsc::Sender<Mail>> {
        let routes = std::mem::take(&mut self.by_session).into_values();
        let open = routes.filter_map(|route| match route {
            Route::Open { mailbox, .. } => Some(mailbox),
            Route::Early { .. } | Route::Left => None,
        });
        open.collect()
    }
}

/// Tells whether a message is a piece of the conversation, and not about its present state.
pub fn retells(mail: &Mail) -> bool {
    const STATE: [&str; 5] = [
        "available_commands_update",
        "current_mode_update",
        "config_option_update",
        "session_info_update",
        "usage_update",
    ];
    let Mail::Update(update) = mail else { return false };
    let kind = update.get("sessionUpdate").and_then(Value::as_str).unwrap_or_default();
    !STATE.contains(&kind)
}
