//! Tool calls: ACP tells each as a state that is replaced; here it becomes what changed.

use std::collections::HashMap;

use serde_json::Value;

use crate::domain::message::{ToolOutput, ToolState};
use crate::server::agents::agent::Happening;
use crate::server::agents::content::{self, Block, unknown};
use crate::server::agents::json::{at, list, text};
use crate::server::agents::outputs::{
    CUT, LONGEST_OUTPUT, Outputs, add_text, cut, one_line, shorten_path,
};
use crate::server::agents::trace::head;

/// What is shown of one tool call so far.
#[derive(Debug, Default)]
struct Shown {
    name: String,
    target: String,
    outputs: Outputs,
    /// Output of a terminal, which comes in pieces beside the content.
    terminal: usize,
    ended: bool,
}

/// The tool calls of one session.
#[derive(Debug, Default)]
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

    /// Translates the tool that a permission is asked for; a title that is known says more.
    pub fn translate_asked(&mut self, call: &Value) -> Vec<Happening> {
        let mut call = call.clone();
        let known = text(&call, "toolCallId").is_some_and(|id| self.shown.contains_key(id));
        if let Some(fields) = call.as_object_mut().filter(|_| known) {
            fields.remove("title");
        }
        self.translate(&call)
    }

    /// Translates a `tool_call` or its update.
    pub fn translate(&mut self, call: &Value) -> Vec<Happening> {
        let Some(tool_id) = text(call, "toolCallId") else {
            return vec![unknown("a tool call without an id")];
        };
        let mut happenings = Vec::new();
        let (outputs, strange) = self.outputs(call);
        let shown = self.shown.entry(tool_id.to_owned()).or_default();
        happenings.extend(shown.rename(tool_id, call));
        happenings.extend(shown.replace(tool_id, outputs));
        happenings.extend(shown.append_terminal(tool_id, call));
        happenings.extend(shown.end(tool_id, call));
        happenings.extend(strange.iter().map(|kind| unknown(kind)));
        happenings
    }

    /// Reads the outputs of a call, and names the kinds that are not known.
    fn outputs(&self, call: &Value) -> (Vec<ToolOutput>, Vec<String>) {
        let (mut outputs, mut strange) = (Vec::new(), Vec::new());
        for item in list(call, "content") {
            match text(item, "type").unwrap_or("nothing") {
                "content" => match content::read(&item["content"]) {
                    Block::Words(words) => add_text(&mut outputs, unfenced(&words)),
                    Block::File { name, .. } => add_text(&mut outputs, &format!("({name})")),
                    Block::Unknown(kind) => strange.push(kind),
                },
                "diff" => outputs.push(ToolOutput::Diff {
                    path: shorten_path(&self.folder, text(item, "path").unwrap_or_default()),
                    old: cut(text(item, "oldText").unwrap_or_default()),
                    new: cut(text(item, "newText").unwrap_or_default()),
                }),
                // Its output comes beside it.
                "terminal" => {}
                kind => strange.push(kind.to_owned()),
            }
        }
        (outputs, strange)
    }
}

impl Shown {
    fn rename(&mut self, tool_id: &str, call: &Value) -> Option<Happening> {
        let known = Some(self.name.as_str()).filter(|name| !name.is_empty());
        let name = own_name(call).or(known).unwrap_or_else(|| name_of_kind(call)).to_owned();
        let target = text(call, "title").map_or_else(|| self.target.clone(), one_line);
        if name == self.name && target == self.target {
            return None;
        }
        (self.name, self.target) = (name.clone(), target.clone());
        Some(Happening::ToolStarted { tool_id: tool_id.to_owned(), name, target })
    }

    fn replace(&mut self, tool_id: &str, outputs: Vec<ToolOutput>) -> Vec<Happening> {
        self.outputs.replace(tool_id, outputs, self.terminal > 0)
    }

    /// Some agents show what a command prints beside the protocol only: in pieces, or whole.
    fn append_terminal(&mut self, tool_id: &str, call: &Value) -> Option<Happening> {
        let piece = at(call, &["_meta", "terminal_output_delta", "data"]).and_then(Value::as_str);
        let whole = at(call, &["_meta", "terminal_output", "data"]).and_then(Value::as_str);
        let fresh =
            piece.or_else(|| whole?.get(self.terminal..)).filter(|text| !text.is_empty())?;
        let room = LONGEST_OUTPUT.saturating_sub(self.terminal);
        self.terminal += fresh.len();
        let text = match head(fresh, room) {
            "" => return None,
            whole if whole.len() == fresh.len() => whole.to_owned(),
            part => format!("{part}{CUT}"),
        };
        let tool_id = tool_id.to_owned();
        Some(Happening::ToolOutput { tool_id, output: ToolOutput::Text { text } })
    }

    fn end(&mut self, tool_id: &str, call: &Value) -> Vec<Happening> {
        let state = match text(call, "status") {
            Some("completed") => ToolState::Done,
            Some("failed") => ToolState::Failed,
            _ => return Vec::new(),
        };
        if std::mem::replace(&mut self.ended, true) {
            return Vec::new();
        }
        let mut happenings = Vec::new();
        if self.outputs.is_empty() && self.terminal == 0 {
            let mut outputs = Vec::new();
            add_text(&mut outputs, raw_output(call));
            happenings.extend(self.replace(tool_id, outputs));
        }
        happenings.push(Happening::ToolEnded { tool_id: tool_id.to_owned(), state });
        happenings
    }
}

/// Takes off the fence that some agents put round plain output.
fn unfenced(words: &str) -> &str {
    let inside = || {
        let (first, rest) = words.trim_end().strip_prefix("```")?.split_once('\n')?;
        let body = rest.strip_suffix("```")?;
        (!first.contains('`') && !body.contains("```")).then(|| body.trim_end_matches('\n'))
    };
    inside().unwrap_or(words)
}

fn raw_output(call: &Value) -> &str {
    let raw = call.get("rawOutput").unwrap_or(&Value::Null);
    let keys = ["output", "stdout", "error"];
    let said = keys.iter().filter_map(|key| text(raw, key)).find(|said| !said.is_empty());
    raw.as_str().or(said).unwrap_or_default()
}

fn own_name(call: &Value) -> Option<&str> {
    text(call, "name")
        .or_else(|| at(call, &["_meta", "claudeCode", "toolName"])?.as_str())
        .or_else(|| at(call, &["_meta", "goose", "toolCall", "toolName"])?.as_str())
}

fn name_of_kind(call: &Value) -> &'static str {
    match text(call, "kind").unwrap_or_default() {
        "read" => "Read",
        "edit" => "Edit",
        "delete" => "Delete",
        "move" => "Move",
        "search" => "Search",
        "execute" => "Run",
        "think" => "Think",
        "fetch" => "Fetch",
        "switch_mode" => "Switch mode",
        _ => "Tool",
    }
}
