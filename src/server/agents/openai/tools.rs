//! What a model may do in the conversation's folder, and nowhere else.

use serde_json::{Value, json};

use super::reply::Call;
use crate::server::agents::json::text;

/// One use of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Use {
    Read { path: String },
    List { path: String },
    Search { text: String },
    Create { path: String, text: String },
    Edit { path: String, old: String, new: String },
    Run { command: String },
}

impl Use {
    /// Reads what a model wants; what it wants and cannot have is told to it.
    pub fn read(call: &Call) -> Result<Self, String> {
        let arguments = match call.arguments.trim() {
            "" => json!({}),
            arguments => serde_json::from_str::<Value>(arguments)
                .map_err(|error| format!("The arguments are no JSON: {error}"))?,
        };
        let of = |key: &str| {
            let found = text(&arguments, key).map(str::to_owned);
            found.ok_or_else(|| format!("The argument {key} is missing."))
        };
        Ok(match call.name.as_str() {
            "read_file" => Self::Read { path: of("path")? },
            "list_folder" => Self::List { path: of("path").unwrap_or_else(|_| ".".to_owned()) },
            "search" => Self::Search { text: of("text")? },
            "create_file" => Self::Create { path: of("path")?, text: of("text")? },
            "edit_file" => {
                Self::Edit { path: of("path")?, old: of("old_text")?, new: of("new_text")? }
            }
            "run_command" => Self::Run { command: of("command")? },
            other => return Err(format!("There is no tool named {other}.")),
        })
    }

    pub fn name(&self) -> &'static str {
        match self {
            Self::Read { .. } => "Read",
            Self::List { .. } => "List",
            Self::Search { .. } => "Search",
            Self::Create { .. } => "Create",
            Self::Edit { .. } => "Edit",
            Self::Run { .. } => "Run",
        }
    }

    pub fn target(&self) -> &str {
        match self {
            Self::Read { path } | Self::List { path } => path,
            Self::Create { path, .. } | Self::Edit { path, .. } => path,
            Self::Search { text } => text,
            Self::Run { command } => command,
        }
    }

    /// Words what a person is asked first, with the kind of thing that is allowed by it. The
    /// person chose the folder, so looking at what is in it needs no question.
    pub fn question(&self) -> Option<(&'static str, String, String)> {
        match self {
            Self::Read { .. } | Self::List { .. } | Self::Search { .. } => None,
            Self::Create { path, text } => {
                Some(("change", format!("Make the file {path}?"), text.clone()))
            }
            Self::Edit { path, old, new } => {
                let detail = format!("Replace\n\n{old}\n\nby\n\n{new}");
                Some(("change", format!("Change {path}?"), detail))
            }
            Self::Run { command } => Some(("run", "Run this command?".to_owned(), command.clone())),
        }
    }
}

/// Describes the tools to a model.
pub fn descriptions() -> Value {
    let path = json!({ "type": "string", "description": "A path relative to the folder" });
    let word = json!({ "type": "string" });
    let tool = |name: &str, description: &str, properties: Value| {
        let required: Vec<_> =
            properties.as_object().into_iter().flat_map(|it| it.keys()).collect();
        let parameters =
            json!({ "type": "object", "properties": properties, "required": required });
        let function =
            json!({ "name": name, "description": description, "parameters": parameters });
        json!({ "type": "function", "function": function })
    };
    json!([
        tool("read_file", "Reads a text file.", json!({ "path": path })),
        tool("list_folder", "Lists what a folder holds.", json!({ "path": path })),
        tool("search", "Finds the lines of all files that hold a text.", json!({ "text": word })),
        tool("create_file", "Makes a new file.", json!({ "path": path, "text": word })),
        tool(
            "edit_file",
            "Replaces a text that stands exactly once in a file.",
            json!({ "path": path, "old_text": word, "new_text": word })
        ),
        tool("run_command", "Runs a shell command in the folder.", json!({ "command": word })),
    ])
}
