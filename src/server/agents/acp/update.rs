//! Translates what a session is told by its agent. Everything becomes something: what is not
//! known becomes a quiet notice, and nothing is an error.

use serde_json::Value;

use super::options::Settings;
use super::tool::Tools;
use crate::domain::message::{NoticeLevel, PlanEntry, PlanState, Usage};
use crate::server::agents::agent::Happening;
use crate::server::agents::content::{happening, unknown};
use crate::server::agents::json::{at, count, list, text};
use crate::wire::rest::SlashCommand;

pub const NO_SUMMARY: &str =
    "The agent summarised the conversation for itself, and goes on from there.";

/// How full a context must have been, and how empty it must be after, in percent, for a drop to
/// mean that the agent summarised it without saying so.
const WAS_FULL: u64 = 80;
const DROPPED_TO: u64 = 50;

/// What has to be remembered from one update to the next.
#[derive(Debug)]
pub struct Translator {
    pub tools: Tools,
    pub settings: Settings,
    usage: Usage,
    /// What the agent says the whole session has cost, and what it said when the turn began.
    cost: Option<f64>,
    cost_before: Option<f64>,
    compaction: Option<String>,
    last_compaction: Option<String>,
}

impl Translator {
    /// Begins with a session that has cost nothing yet, or of which that is not known.
    pub fn new(folder: String, settings: Settings, is_new: bool) -> Self {
        Self {
            tools: Tools::new(folder),
            settings,
            usage: Usage::default(),
            cost: is_new.then_some(0.0),
            cost_before: None,
            compaction: None,
            last_compaction: None,
        }
    }

    pub fn begin_turn(&mut self) {
        self.tools.begin_turn();
        self.cost_before = self.cost;
        self.usage = Usage {
            context_tokens: self.usage.context_tokens,
            context_limit: self.usage.context_limit,
            ..Usage::default()
        };
    }

    pub fn translate(&mut self, update: &Value) -> Vec<Happening> {
        let content = update.get("content").unwrap_or(&Value::Null);
        match text(update, "sessionUpdate").unwrap_or("nothing") {
            "agent_message_chunk" => vec![happening(content, Happening::Text)],
            "agent_thought_chunk" => vec![happening(content, Happening::Thinking)],
            // What a person said is stored here already.
            "user_message_chunk" => Vec::new(),
            "tool_call" | "tool_call_update" => self.tools.translate(update),
            "plan" => vec![Happening::Plan(list(update, "entries").iter().map(step).collect())],
            "usage_update" => self.read_usage(update),
            "compaction_update" => self.read_compaction(update),
            "notice" => vec![notice(update)],
            "available_commands_update" => {
                let commands = list(update, "availableCommands").iter().filter_map(command);
                vec![Happening::Commands(commands.collect())]
            }
            "config_option_update" => {
                self.settings.read_config(update);
                vec![Happening::Options(self.settings.list())]
            }
            "current_mode_update" => {
                self.settings.set_mode(text(update, "currentModeId").unwrap_or_default());
                vec![Happening::Options(self.settings.list())]
            }
            "session_info_update" => {
                let title = text(update, "title").filter(|title| !title.trim().is_empty());
                title.map(|title| Happening::Title(title.to_owned())).into_iter().collect()
            }
            kind => vec![unknown(kind)],
        }
    }

    /// Reads the numbers that end a turn.
    pub fn end_turn(&mut self, ended: &Value) -> Option<Happening> {
        let usage = ended.get("usage").filter(|usage| usage.is_object())?;
        self.usage.input_tokens = count(usage, "inputTokens").unwrap_or_default();
        self.usage.output_tokens = count(usage, "outputTokens").unwrap_or_default();
        Some(Happening::Usage(self.usage))
    }

    /// Gives the summary of a compaction that has not been told yet.
    pub fn take_compaction(&mut self) -> Option<String> {
        self.compaction.take()
    }

    fn read_usage(&mut self, update: &Value) -> Vec<Happening> {
        let used = count(update, "used");
        let size = count(update, "size").filter(|size| *size > 0);
        if let (Some(before), Some(now), Some(limit)) = (self.usage.context_tokens, used, size)
            && before.saturating_mul(100) / limit >= WAS_FULL
            && now.saturating_mul(100) / before.max(1) <= DROPPED_TO
        {
            self.compaction.get_or_insert_with(|| NO_SUMMARY.to_owned());
        }
        self.usage.context_tokens = used.or(self.usage.context_tokens);
        self.usage.context_limit = size.or(self.usage.context_limit);
        let dollars = at(update, &["cost", "currency"]).and_then(Value::as_str) == Some("USD");
        let amount = at(update, &["cost", "amount"]).and_then(Value::as_f64);
        if let Some(amount) = amount.filter(|_| dollars) {
            self.cost = Some(amount);
            self.usage.cost_usd = self.cost_before.map(|before| (amount - before).max(0.0));
        }
        vec![Happening::Usage(self.usage)]
    }

    /// Notes a compaction. It is told once, when the turn ends, so that the answer under way stays
    /// in one piece.
    fn read_compaction(&mut self, update: &Value) -> Vec<Happening> {
        let words: Vec<_> =
            list(update, "summary").iter().filter_map(|it| text(it, "text")).collect();
        let id = text(update, "compactionId").unwrap_or_default();
        match text(update, "status") {
            Some("completed") if !words.is_empty() => self.compaction = Some(words.join("\n\n")),
            Some("completed") if self.last_compaction.as_deref() != Some(id) => {
                self.compaction.get_or_insert_with(|| NO_SUMMARY.to_owned());
            }
            Some("failed") => {
                let text = "The agent could not summarise the conversation.".to_owned();
                return vec![Happening::Notice { level: NoticeLevel::Warning, text }];
            }
            Some("completed") => {}
            _ => {
                let text = "The agent summarises the conversation to make room.".to_owned();
                return vec![Happening::Notice { level: NoticeLevel::Info, text }];
            }
        }
        self.last_compaction = Some(id.to_owned());
        Vec::new()
    }
}

fn step(entry: &Value) -> PlanEntry {
    PlanEntry {
        text: text(entry, "content").unwrap_or_default().to_owned(),
        state: match text(entry, "status") {
            Some("in_progress") => PlanState::Active,
            Some("completed") => PlanState::Done,
            _ => PlanState::Pending,
        },
    }
}

fn notice(update: &Value) -> Happening {
    let level = match text(update, "severity") {
        Some("error") => NoticeLevel::Error,
        Some("warning") => NoticeLevel::Warning,
        _ => NoticeLevel::Info,
    };
    let words = [text(update, "title"), text(update, "message"), text(update, "description")];
    let words: Vec<_> = words.into_iter().flatten().collect();
    Happening::Notice { level, text: words.join("\n") }
}

fn command(told: &Value) -> Option<SlashCommand> {
    Some(SlashCommand {
        name: text(told, "name")?.to_owned(),
        description: text(told, "description").unwrap_or_default().to_owned(),
    })
}
