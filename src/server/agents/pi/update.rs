//! Translates pi's events. Everything becomes something: what is not known becomes a quiet notice,
//! and nothing is an error.

use std::collections::HashMap;

use serde_json::Value;

use super::tool::Tools;
use crate::domain::message::{NoticeLevel, Usage};
use crate::server::agents::agent::Happening;
use crate::server::agents::content::{happening, unknown};
use crate::server::agents::json::{at, count, list, text};

/// Which block of which message words belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    message: usize,
    block: u64,
    thinking: bool,
}

/// What has to be remembered from one event to the next.
#[derive(Debug)]
pub struct Translator {
    tools: Tools,
    usage: Usage,
    /// The message under way, and what was said in each block of it.
    message: usize,
    blocks: HashMap<u64, String>,
    /// Where the last words went, while nothing else came after them.
    last: Option<Place>,
    /// All that was said in the turn.
    pub said: String,
    /// Something happened in the turn.
    pub active: bool,
    /// Why the last answer broke off.
    pub stopped: Option<(String, String)>,
    pub compaction: Option<String>,
}

impl Translator {
    pub fn new(folder: String) -> Self {
        Self {
            tools: Tools::new(folder),
            usage: Usage::default(),
            message: 0,
            blocks: HashMap::new(),
            last: None,
            said: String::new(),
            active: false,
            stopped: None,
            compaction: None,
        }
    }

    pub fn begin_turn(&mut self) {
        self.tools.begin_turn();
        self.usage = Usage { context_tokens: self.usage.context_tokens, ..Usage::default() };
        self.said.clear();
        (self.last, self.stopped, self.active) = (None, None, false);
    }

    /// Translates an event that is about the answer. `limit` is the size of the model's context.
    pub fn translate(
        &mut self,
        event: &Value,
        cancelled: bool,
        limit: Option<u64>,
    ) -> Vec<Happening> {
        let kind = text(event, "type").unwrap_or("nothing");
        let happenings = match kind {
            "message_start" => self.begin_message(&event["message"]),
            "message_update" => self.update_message(&event["assistantMessageEvent"]),
            "message_end" => self.end_message(&event["message"], limit),
            "tool_execution_start" | "tool_execution_update" | "tool_execution_end" => {
                self.tools.translate(event, cancelled)
            }
            "compaction_start" => {
                vec![notice("The agent summarises the conversation to make room.")]
            }
            "compaction_end" => self.end_compaction(event),
            "auto_retry_start" | "summarization_retry_scheduled" => vec![retry(event)],
            "extension_error" => {
                let words = text(event, "error").unwrap_or("no reason was given");
                vec![warning(format!("An extension of the agent failed: {words}"))]
            }
            // These say nothing that is not said by others.
            "agent_start"
            | "agent_end"
            | "agent_settled"
            | "turn_start"
            | "turn_end"
            | "queue_update"
            | "entry_appended"
            | "auto_retry_end"
            | "bash_execution_update"
            | "summarization_retry_attempt_start"
            | "summarization_retry_finished" => Vec::new(),
            kind => vec![unknown(kind)],
        };
        let words = |it: &Happening| {
            matches!(it, Happening::Text(_) | Happening::Thinking(_) | Happening::Usage(_))
        };
        if !happenings.iter().all(words) {
            self.last = None;
        }
        self.active |= !happenings.is_empty();
        happenings
    }

    fn begin_message(&mut self, message: &Value) -> Vec<Happening> {
        self.message += 1;
        self.blocks.clear();
        match text(message, "role") {
            Some("assistant" | "user" | "system" | "toolResult" | "custom" | "bashExecution") => {
                Vec::new()
            }
            Some("branchSummary" | "compactionSummary") => Vec::new(),
            role => vec![unknown(role.unwrap_or("a message of nobody"))],
        }
    }

    fn update_message(&mut self, update: &Value) -> Vec<Happening> {
        let block = count(update, "contentIndex").unwrap_or_default();
        let delta = text(update, "delta").unwrap_or_default();
        match text(update, "type").unwrap_or("nothing") {
            "text_delta" => self.say(block, false, delta),
            "thinking_delta" => self.say(block, true, delta),
            "toolcall_start" => match (text(update, "id"), text(update, "toolName")) {
                (Some(id), Some(name)) => self.tools.show(id, name, &Value::Null),
                _ => Vec::new(),
            },
            "toolcall_end" => self.show_call(&update["toolCall"]),
            // The message's end says all that these do.
            "start" | "text_start" | "text_end" | "thinking_start" | "thinking_end"
            | "toolcall_delta" | "done" | "error" => Vec::new(),
            kind => vec![unknown(kind)],
        }
    }

    fn show_call(&mut self, call: &Value) -> Vec<Happening> {
        match (text(call, "id"), text(call, "name")) {
            (Some(id), Some(name)) => {
                self.tools.show(id, name, call.get("arguments").unwrap_or(&Value::Null))
            }
            _ => vec![unknown("a tool call without an id")],
        }
    }

    /// Says words of a block; another block than the last begins a paragraph of its own.
    fn say(&mut self, block: u64, thinking: bool, words: &str) -> Vec<Happening> {
        if words.is_empty() {
            return Vec::new();
        }
        let place = Place { message: self.message, block, thinking };
        let follows = self.last.is_some_and(|last| last != place && last.thinking == thinking);
        self.last = Some(place);
        self.blocks.entry(block).or_default().push_str(words);
        let words = format!("{}{words}", if follows { "\n\n" } else { "" });
        if thinking {
            return vec![Happening::Thinking(words)];
        }
        self.said.push_str(&words);
        vec![Happening::Text(words)]
    }

    /// Reads a whole message: what of it did not come in pieces, what it took, and why it ended.
    fn end_message(&mut self, message: &Value, limit: Option<u64>) -> Vec<Happening> {
        match text(message, "role") {
            Some("assistant") => {}
            Some("custom") if message["display"] == true => return own_words(message),
            _ => return Vec::new(),
        }
        let mut happenings = Vec::new();
        for (place, block) in (0..).zip(list(message, "content")) {
            let (thinking, whole) = match text(block, "type") {
                Some("text") => (false, text(block, "text")),
                Some("thinking") => (true, text(block, "thinking")),
                Some("toolCall") => {
                    happenings.extend(self.show_call(block));
                    continue;
                }
                kind => {
                    happenings.push(unknown(kind.unwrap_or("nothing")));
                    continue;
                }
            };
            let said = self.blocks.get(&place).map(String::as_str).unwrap_or_default();
            let rest = whole.unwrap_or_default().strip_prefix(said).unwrap_or_default().to_owned();
            happenings.extend(self.say(place, thinking, &rest));
        }
        let reason = text(message, "stopReason").unwrap_or("stop").to_owned();
        let why = text(message, "errorMessage").unwrap_or_default().to_owned();
        self.stopped = Some((reason, why));
        happenings.extend(self.read_usage(&message["usage"], limit));
        happenings
    }

    /// Adds what one answer took to what the turn took.
    fn read_usage(&mut self, told: &Value, limit: Option<u64>) -> Option<Happening> {
        let of = |key| count(told, key).unwrap_or_default();
        let total = count(told, "totalTokens").filter(|total| *total > 0)?;
        self.usage.input_tokens += of("input") + of("cacheRead") + of("cacheWrite");
        self.usage.output_tokens += of("output");
        self.usage.context_tokens = Some(total);
        self.usage.context_limit = limit;
        if let Some(cost) = at(told, &["cost", "total"]).and_then(Value::as_f64) {
            self.usage.cost_usd = Some(self.usage.cost_usd.unwrap_or_default() + cost);
        }
        Some(Happening::Usage(self.usage))
    }

    /// Notes a compaction. It is told when the turn ends, so that the answer under way stays in one
    /// piece.
    fn end_compaction(&mut self, event: &Value) -> Vec<Happening> {
        if let Some(summary) = at(event, &["result", "summary"]).and_then(Value::as_str) {
            self.compaction = Some(summary.to_owned());
            return Vec::new();
        }
        match text(event, "errorMessage") {
            Some(why) => {
                vec![warning(format!("The agent could not summarise the conversation: {why}"))]
            }
            None => Vec::new(),
        }
    }
}

/// Shows what an extension says in the conversation.
fn own_words(message: &Value) -> Vec<Happening> {
    match message.get("content") {
        Some(Value::String(words)) => vec![notice(words)],
        _ => list(message, "content")
            .iter()
            .map(|block| {
                happening(block, |text| Happening::Notice { level: NoticeLevel::Info, text })
            })
            .collect(),
    }
}

fn retry(event: &Value) -> Happening {
    let of = |key| count(event, key).unwrap_or_default();
    let why = text(event, "errorMessage").unwrap_or("no reason was given");
    let (attempt, most) = (of("attempt"), of("maxAttempts"));
    warning(format!("The model did not answer ({why}). Trying again, {attempt} of {most}."))
}

fn notice(words: &str) -> Happening {
    Happening::Notice { level: NoticeLevel::Info, text: words.to_owned() }
}

fn warning(text: String) -> Happening {
    Happening::Notice { level: NoticeLevel::Warning, text }
}
