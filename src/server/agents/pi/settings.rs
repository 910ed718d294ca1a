//! What can be chosen about pi: its model, and how much it thinks.

use serde_json::{Value, json};

use crate::server::agents::json::{count, list, text};
use crate::wire::rest::{AgentChoice, AgentOption};

pub const MODEL: &str = "model";
pub const THINKING: &str = "thinking";

#[derive(Debug, Clone, PartialEq, Eq)]
struct Model {
    provider: String,
    id: String,
    name: String,
    context: Option<u64>,
}

impl Model {
    fn read(told: &Value) -> Option<Self> {
        let (provider, id) = (text(told, "provider")?, text(told, "id")?);
        Some(Self {
            provider: provider.to_owned(),
            id: id.to_owned(),
            name: text(told, "name").unwrap_or(id).to_owned(),
            context: count(told, "contextWindow").filter(|size| *size > 0),
        })
    }

    fn value(&self) -> String {
        format!("{}/{}", self.provider, self.id)
    }
}

/// The settings of one conversation, as pi told them last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    model: Option<Model>,
    models: Vec<Model>,
    level: String,
    levels: Vec<String>,
}

impl Settings {
    /// Reads the reply to `get_state`.
    pub fn read_state(&mut self, state: &Value) {
        self.model = state.get("model").and_then(Model::read);
        text(state, "thinkingLevel").unwrap_or_default().clone_into(&mut self.level);
    }

    pub fn read_models(&mut self, reply: &Value) {
        self.models = list(reply, "models").iter().filter_map(Model::read).collect();
    }

    pub fn read_levels(&mut self, reply: &Value) {
        let levels = list(reply, "levels").iter().filter_map(Value::as_str);
        self.levels = levels.map(str::to_owned).collect();
    }

    pub fn set_level(&mut self, level: &str) {
        level.clone_into(&mut self.level);
    }

    /// Gives the size of the model's context.
    pub fn context_limit(&self) -> Option<u64> {
        self.model.as_ref()?.context
    }

    pub fn list(&self) -> Vec<AgentOption> {
        let models = self.models.iter().map(|model| AgentChoice {
            value: model.value(),
            name: model.name.clone(),
            description: model.provider.clone(),
        });
        let levels = self.levels.iter().map(|level| AgentChoice {
            value: level.clone(),
            name: level.clone(),
            description: String::new(),
        });
        let model = self.model.as_ref().map(Model::value).unwrap_or_default();
        let options = [
            option(MODEL, "Model", model, models.collect()),
            option(THINKING, "Thinking", self.level.clone(), levels.collect()),
        ];
        options.into_iter().filter(|option| !option.choices.is_empty()).collect()
    }

    /// Gives the command that sets an option, unless it is unknown here or set so already.
    pub fn command(&self, name: &str, value: &str) -> Option<Value> {
        let options = self.list();
        let option = options.iter().find(|option| option.id == name && option.value != value)?;
        option.choices.iter().find(|choice| choice.value == value)?;
        if name == THINKING {
            return Some(json!({ "type": "set_thinking_level", "level": value }));
        }
        let (provider, model) = value.split_once('/')?;
        Some(json!({ "type": "set_model", "provider": provider, "modelId": model }))
    }

    /// Notes that an option was set.
    pub fn note(&mut self, name: &str, value: &str) {
        match name {
            THINKING => self.set_level(value),
            _ => self.model = self.models.iter().find(|model| model.value() == value).cloned(),
        }
    }
}

fn option(id: &str, name: &str, value: String, choices: Vec<AgentChoice>) -> AgentOption {
    AgentOption { id: id.to_owned(), name: name.to_owned(), value, choices }
}
