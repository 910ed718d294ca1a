//! What can be chosen about an agent: its options, and in older dialects its modes and models.

use serde_json::{Value, json};

use crate::server::agents::json::{list, text};
use crate::wire::rest::{AgentChoice, AgentOption};

/// By which request an option is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Config,
    Mode,
    Model,
}

/// The options of one session, and how each is set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    entries: Vec<(Way, AgentOption)>,
}

impl Settings {
    /// Reads what opening a session told.
    pub fn read(opened: &Value) -> Self {
        let mut settings = Self::default();
        settings.read_config(opened);
        let (modes, models) = (&opened["modes"], &opened["models"]);
        settings.add(Way::Mode, "mode", "Mode", modes, "currentModeId", "availableModes", "id");
        settings.add(
            Way::Model,
            "model",
            "Model",
            models,
            "currentModelId",
            "availableModels",
            "modelId",
        );
        settings
    }

    pub fn list(&self) -> Vec<AgentOption> {
        self.entries.iter().map(|(_, option)| option.clone()).collect()
    }

    /// Takes a new list of options in, where a message holds one.
    pub fn read_config(&mut self, message: &Value) {
        let options = list(message, "configOptions");
        if !options.is_empty() {
            self.entries.retain(|(way, _)| *way != Way::Config);
            let read = options.iter().filter_map(config_option);
            self.entries.extend(read.map(|option| (Way::Config, option)));
        }
    }

    /// Notes that the agent changed its mode by itself.
    pub fn set_mode(&mut self, mode: &str) {
        if let Some((_, option)) = self.entries.iter_mut().find(|(_, it)| it.id == "mode") {
            mode.clone_into(&mut option.value);
        }
    }

    /// Gives the request that sets an option, unless it is unknown here or set so already.
    pub fn request(&self, session: &str, name: &str, value: &str) -> Option<(&'static str, Value)> {
        let (way, _) =
            self.entries.iter().find(|(_, option)| option.id == name && option.value != value)?;
        Some(match way {
            Way::Config => (
                "session/set_config_option",
                json!({ "sessionId": session, "configId": name, "value": value }),
            ),
            Way::Mode => ("session/set_mode", json!({ "sessionId": session, "modeId": value })),
            Way::Model => ("session/set_model", json!({ "sessionId": session, "modelId": value })),
        })
    }

    /// Notes that an option was set.
    pub fn note(&mut self, name: &str, value: &str, reply: &Value) {
        if let Some((_, option)) = self.entries.iter_mut().find(|(_, option)| option.id == name) {
            value.clone_into(&mut option.value);
        }
        self.read_config(reply);
    }

    #[expect(clippy::too_many_arguments, reason = "the two old shapes differ in every name")]
    fn add(
        &mut self,
        way: Way,
        id: &str,
        name: &str,
        told: &Value,
        current: &str,
        available: &str,
        key: &str,
    ) {
        let choices: Vec<_> =
            list(told, available).iter().filter_map(|it| choice(it, key)).collect();
        if !choices.is_empty() && !self.entries.iter().any(|(_, known)| known.id == id) {
            let value = text(told, current).unwrap_or_default().to_owned();
            let option = AgentOption { id: id.to_owned(), name: name.to_owned(), value, choices };
            self.entries.push((way, option));
        }
    }
}

fn config_option(told: &Value) -> Option<AgentOption> {
    let id = text(told, "id")?;
    let grouped = list(told, "options").iter().flat_map(|entry| match list(entry, "options") {
        [] => std::slice::from_ref(entry),
        group => group,
    });
    Some(AgentOption {
        id: id.to_owned(),
        name: text(told, "name").unwrap_or(id).to_owned(),
        value: text(told, "currentValue").unwrap_or_default().to_owned(),
        choices: grouped.filter_map(|entry| choice(entry, "value")).collect(),
    })
}

fn choice(told: &Value, key: &str) -> Option<AgentChoice> {
    let value = text(told, key)?;
    Some(AgentChoice {
        value: value.to_owned(),
        name: text(told, "name").unwrap_or(value).to_owned(),
        description: text(told, "description").unwrap_or_default().to_owned(),
    })
}
