//! Conversations that pi remembers: which there are, and what was said in one.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::Pi;
use super::archive::Archive;
use super::update::Translator;
use crate::domain::message::Role;
use crate::domain::time::Timestamp;
use crate::server::agents::agent::{AgentError, Ending, Happening};
use crate::server::agents::content::happening;
use crate::server::agents::json::{list, text};
use crate::server::agents::remembered::{Remembered, Retold};

impl Pi {
    pub(super) async fn list_remembered(
        &self,
        folder: &Path,
    ) -> Result<Vec<Remembered>, AgentError> {
        let archive = Archive::of(folder, &self.settings.environment);
        let listed = tokio::task::spawn_blocking(move || archive.list()).await;
        listed.map_err(|_| self.unavailable("could not list its conversations."))
    }

    pub(super) async fn retell_file(
        &self,
        folder: PathBuf,
        file: String,
    ) -> Result<Vec<Retold>, AgentError> {
        let archive = Archive::of(&folder, &self.settings.environment);
        let read = tokio::task::spawn_blocking(move || {
            let mut teller = Teller::new(&folder);
            archive.read(&file)?.iter().for_each(|entry| teller.hear(entry));
            Ok::<_, std::io::Error>(teller.told)
        });
        let read = read.await.map_err(|_| self.unavailable("could not tell a conversation."))?;
        read.map_err(|_| self.unavailable("does not remember this conversation any more."))
    }
}

/// Translates the entries of a file in their order.
struct Teller {
    translator: Translator,
    told: Vec<Retold>,
}

impl Teller {
    fn new(folder: &Path) -> Self {
        Self { translator: Translator::new(folder.display().to_string()), told: Vec::new() }
    }

    fn hear(&mut self, entry: &Value) {
        let message = entry.get("message").unwrap_or(&Value::Null);
        let (role, happenings) = match (text(entry, "type"), text(message, "role")) {
            (Some("message"), Some("user")) => {
                self.translator.begin_turn();
                (Role::User, said(message))
            }
            (Some("message"), Some("assistant")) => (Role::Assistant, self.answered(message)),
            (Some("message"), Some("toolResult")) => (Role::Assistant, self.gave(message)),
            (Some("message"), Some("custom")) | (Some("custom_message"), _) => {
                let message = if message.is_null() { entry } else { message };
                (
                    Role::Assistant,
                    self.translate(json!({ "type": "message_end", "message": as_custom(message) })),
                )
            }
            (Some("compaction" | "branch_summary"), _) => {
                let summary = text(entry, "summary").map(str::to_owned);
                (Role::System, summary.map(Happening::Text).into_iter().collect())
            }
            // Models, levels, labels and instructions are not part of what was said.
            _ => return,
        };
        let named = text(entry, "id").or_else(|| text(entry, "timestamp")).map(str::to_owned);
        let at = text(entry, "timestamp").and_then(Timestamp::parse);
        let retold = |happening| Retold { role, message: named.clone(), at, happening };
        self.told.extend(happenings.into_iter().map(retold));
    }

    fn answered(&mut self, message: &Value) -> Vec<Happening> {
        let mut happenings = self.translate(json!({ "type": "message_start", "message": message }));
        happenings.extend(self.translate(json!({ "type": "message_end", "message": message })));
        match self.translator.stopped.take() {
            Some((reason, _)) if reason == "aborted" => {
                happenings.push(Happening::Ended(Ending::Cancelled));
            }
            Some((reason, why)) if reason == "error" => {
                happenings.push(Happening::Failed { phase: "prompt".to_owned(), message: why });
                happenings.push(Happening::Ended(Ending::Failed));
            }
            _ => {}
        }
        happenings
    }

    fn gave(&mut self, message: &Value) -> Vec<Happening> {
        self.translate(json!({
            "type": "tool_execution_end",
            "toolCallId": message["toolCallId"],
            "toolName": message["toolName"],
            "isError": message["isError"].as_bool().unwrap_or_default(),
            "result": { "content": message["content"] },
        }))
    }

    fn translate(&mut self, event: Value) -> Vec<Happening> {
        self.translator.translate(&event, false, None)
    }
}

/// Reads what a person said; older versions wrote it as a mere text.
fn said(message: &Value) -> Vec<Happening> {
    match text(message, "content") {
        Some(words) => vec![Happening::Text(words.to_owned())],
        None => list(message, "content").iter().map(|it| happening(it, Happening::Text)).collect(),
    }
}

/// Makes the words of an extension the message that they are when they come live.
fn as_custom(entry: &Value) -> Value {
    json!({ "role": "custom", "display": entry["display"], "content": entry["content"] })
}
