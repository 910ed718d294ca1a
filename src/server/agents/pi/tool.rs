//! Tool calls, from the first word of one in an answer to what it gave.

use std::collections::HashMap;

use serde_json::Value;

use crate::domain::message::{ToolOutput, ToolState};
use crate::server::agents::agent::Happening;
use crate::server::agents::content::{self, Block, unknown};
use crate::server::agents::json::{list, text};
use crate::server::agents::outputs::{Outputs, add_text, cut, one_line, shorten_path};

/// What is shown of one tool call so far.
#[derive(Debug, Default)]
struct Shown {
    name: String,
    target: String,
    arguments: Value,
    outputs: Outputs,
}

/// The tool calls of one turn, by their ids.
#[derive(Debug)]
pub struct Tools {
    shown: HashMap<String, Shown>,
    /// The folder of the conversation, which paths are shown without.
    folder: String,
}

impl Tools {
    pub fn new(folder: String) -> Self {
        Self { shown: HashMap::new(), folder }
    }

    /// Forgets the tools of the last turn.
    pub fn begin_turn(&mut self) {
        self.shown.clear();
    }

    /// Shows a call, with what it works on as far as that is known yet.
    pub fn show(&mut self, tool_id: &str, name: &str, arguments: &Value) -> Vec<Happening> {
        let is_new = !self.shown.contains_key(tool_id);
        let shown = self.shown.entry(tool_id.to_owned()).or_default();
        if !arguments.is_null() {
            shown.arguments = arguments.clone();
        }
        let target = target(&self.folder, &shown.arguments);
        if !is_new && shown.name == name && shown.target == target {
            return Vec::new();
        }
        (shown.name, shown.target) = (name.to_owned(), target.clone());
        let (tool_id, name) = (tool_id.to_owned(), title(name));
        vec![Happening::ToolStarted { tool_id, name, target }]
    }

    /// Translates a `tool_execution_…` event.
    pub fn translate(&mut self, event: &Value, cancelled: bool) -> Vec<Happening> {
        let Some(tool_id) = text(event, "toolCallId") else {
            return vec![unknown("a tool call without an id")];
        };
        let name = text(event, "toolName").unwrap_or("tool");
        let mut happenings = self.show(tool_id, name, event.get("args").unwrap_or(&Value::Null));
        let Some(shown) = self.shown.get_mut(tool_id) else { return happenings };
        let failed = event.get("isError").and_then(Value::as_bool);
        let result = event.get("result").or_else(|| event.get("partialResult"));
        let (mut outputs, strange) = read_outputs(result.unwrap_or(&Value::Null));
        if failed == Some(false) {
            outputs.splice(0..0, changes(&self.folder, &shown.name, &shown.arguments));
        }
        happenings.extend(shown.outputs.replace(tool_id, outputs, false));
        happenings.extend(strange.iter().map(|kind| unknown(kind)));
        if let Some(failed) = failed {
            let state = match (failed, cancelled) {
                (true, true) => ToolState::Skipped,
                (true, false) => ToolState::Failed,
                (false, _) => ToolState::Done,
            };
            happenings.push(Happening::ToolEnded { tool_id: tool_id.to_owned(), state });
        }
        happenings
    }
}

/// Reads what a tool gave, and names the kinds that are not known.
fn read_outputs(result: &Value) -> (Vec<ToolOutput>, Vec<String>) {
    let (mut outputs, mut strange) = (Vec::new(), Vec::new());
    for block in list(result, "content") {
        match content::read(block) {
            Block::Words(words) => add_text(&mut outputs, &words),
            Block::File { name, .. } => add_text(&mut outputs, &format!("({name})")),
            Block::Unknown(kind) => strange.push(kind),
        }
    }
    (outputs, strange)
}

/// Reads what a call changes in files from what it was given.
fn changes(folder: &str, name: &str, arguments: &Value) -> Vec<ToolOutput> {
    let path = shorten_path(folder, text(arguments, "path").unwrap_or_default());
    let change = |old: &str, new: &str| ToolOutput::Diff {
        path: path.clone(),
        old: cut(old),
        new: cut(new),
    };
    match name {
        "write" => text(arguments, "content").map(|new| change("", new)).into_iter().collect(),
        "edit" => {
            // Older versions give one change beside the path.
            let edits = match list(arguments, "edits") {
                [] => std::slice::from_ref(arguments),
                edits => edits,
            };
            let read = |edit| Some(change(text(edit, "oldText")?, text(edit, "newText")?));
            edits.iter().filter_map(read).collect()
        }
        _ => Vec::new(),
    }
}

fn title(name: &str) -> String {
    let known = match name {
        "bash" => "Run",
        "read" => "Read",
        "edit" => "Edit",
        "write" => "Write",
        "ls" => "List",
        "grep" | "find" => "Search",
        other => other,
    };
    known.to_owned()
}

/// Finds what a tool works on: a command, a path, or else all that it was given.
fn target(folder: &str, arguments: &Value) -> String {
    const KEYS: [&str; 5] = ["command", "path", "file_path", "pattern", "query"];
    match KEYS.iter().find_map(|key| text(arguments, key)) {
        Some(found) => one_line(&shorten_path(folder, found)),
        None if arguments.as_object().is_none_or(serde_json::Map::is_empty) => String::new(),
        None => one_line(&arguments.to_string()),
    }
}
