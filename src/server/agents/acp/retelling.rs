//! Conversations that an agent remembers: which there are, and what was said in one.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Acp;
use super::opening::{Link, OPEN_WITHIN};
use super::options::Settings;
use super::route::{Mail, retells};
use super::update::Translator;
use crate::domain::message::Role;
use crate::domain::time::Timestamp;
use crate::server::agents::agent::{AgentError, Ending, Happening, OpenRequest};
use crate::server::agents::content::happening;
use crate::server::agents::json::{at, list, text};
use crate::server::agents::remembered::{Remembered, Retold, newest_first};
use crate::server::mint;

/// How many conversations are asked for at most, and how often.
const MOST: usize = 200;
const PAGES: usize = 20;

/// What is said where the agent refuses.
const NOT_TOLD: &str = "could not tell its conversations";

/// What one agent notes down as said by a person when its turn was stopped.
const STOPPED: &str = "[Request interrupted by user";

impl Acp {
    /// Lists the conversations that the agent remembers in a folder.
    pub(super) async fn list_remembered(
        &self,
        folder: &Path,
    ) -> Result<Vec<Remembered>, AgentError> {
        let (connection, hello) = self.pool.connect(folder).await?;
        if !(hello.can_list && hello.can_load) {
            return Err(self.unavailable("cannot tell its earlier conversations."));
        }
        let mut found = Vec::new();
        let mut cursor = Value::Null;
        for _ in 0..PAGES {
            let mut params = json!({ "cwd": folder });
            if !cursor.is_null() {
                params["cursor"] = cursor;
            }
            let told = connection.request("session/list", params, OPEN_WITHIN).await;
            let told = told.map_err(|refusal| self.explain(&refusal, NOT_TOLD))?;
            found.extend(list(&told, "sessions").iter().filter_map(|it| remembered(it, folder)));
            cursor = told.get("nextCursor").cloned().unwrap_or_default();
            if cursor.is_null() || found.len() >= MOST {
                break;
            }
        }
        found.truncate(MOST);
        Ok(newest_first(found))
    }

    /// Lets the agent tell a conversation from its beginning.
    pub(super) async fn retell_session(
        &self,
        folder: PathBuf,
        session: &str,
    ) -> Result<Vec<Retold>, AgentError> {
        let request = OpenRequest::new(mint::session_id(), folder);
        let mut link = Link::listen(self, &request, session).await?;
        let params = json!({ "sessionId": session, "cwd": request.workspace, "mcpServers": [] });
        let asked = link.connection.ask("session/load", params, None);
        let mut teller = Teller::new(&request.workspace);
        let reply = match asked {
            Err(refusal) => Err(refusal),
            Ok(asked) => {
                let mut reply = std::pin::pin!(asked.reply(OPEN_WITHIN));
                loop {
                    tokio::select! {
                        biased;
                        Some(mail) = link.mailbox.recv() => teller.hear(&mail),
                        reply = &mut reply => break reply,
                    }
                }
            }
        };
        while let Ok(mail) = link.mailbox.try_recv() {
            teller.hear(&mail);
        }
        link.leave(false);
        reply.map_err(|refusal| self.explain(&refusal, NOT_TOLD))?;
        Ok(teller.told)
    }
}

/// Reads what an agent lists, unless it belongs to another folder.
fn remembered(told: &Value, folder: &Path) -> Option<Remembered> {
    if text(told, "cwd").is_some_and(|cwd| Path::new(cwd) != folder) {
        return None;
    }
    Some(Remembered {
        agent_session: text(told, "sessionId")?.to_owned(),
        title: text(told, "title").unwrap_or_default().to_owned(),
        updated_at: text(told, "updatedAt").and_then(Timestamp::parse),
    })
}

/// Writes down what is told.
struct Teller {
    translator: Translator,
    told: Vec<Retold>,
}

impl Teller {
    fn new(folder: &Path) -> Self {
        let folder = folder.display().to_string();
        Self { translator: Translator::new(folder, Settings::default(), false), told: Vec::new() }
    }

    fn hear(&mut self, mail: &Mail) {
        let Mail::Update(update) = mail else { return };
        if !retells(mail) {
            return;
        }
        let message = text(update, "messageId")
            .or_else(|| at(update, &["_meta", "goose", "messageId"]).and_then(Value::as_str))
            .map(str::to_owned);
        let content = update.get("content").unwrap_or(&Value::Null);
        let (role, happenings) = match text(update, "sessionUpdate") {
            Some("user_message_chunk") => match happening(content, Happening::Text) {
                Happening::Text(words) if words.starts_with(STOPPED) => {
                    (Role::Assistant, vec![Happening::Ended(Ending::Cancelled)])
                }
                said => (Role::User, vec![said]),
            },
            _ => (Role::Assistant, self.translator.translate(update)),
        };
        let retold = |happening| Retold { role, message: message.clone(), at: None, happening };
        self.told.extend(happenings.into_iter().map(retold));
    }
}
