//! Tool calls: ACP tells each as a state that is replaced; here it becomes what changed.

use std::collections::HashMap;

use serde_json::Value;

use super::content::{self, Block, unknown};
use super::json::{at, list, text};
use crate::domain::message::{ToolOutput, ToolState};
use crate::server::agents::agent::Happening;
use crate::server::agents::trace::head;

/// How much text of one tool's output is shown.
const LONGEST_OUTPUT: usize = 128 << 10;

const CUT: &str = "\n… the rest is left out";

/// What is shown of one tool call so far.
#[derive(Debug, Default)]
struct Shown {
    name: String,
    target: String,
    outputs: Vec<ToolOutput>,
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
                    path: self.shorten(text(item, "path").unwrap_or_default()),
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

    fn shorten(&self, path: &str) -> String {
        let inside = path.strip_prefix(&self.folder).and_then(|rest| rest.strip_prefix('/'));
        inside.unwrap_or(path).to_owned()
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
        if outputs.is_empty() || outputs == self.outputs {
            return Vec::new();
        }
        let shown = std::mem::replace(&mut self.outputs, outputs);
        let tool_id = tool_id.to_owned();
        if let Some(text) = continuation(&shown, &self.outputs) {
            return vec![Happening::ToolOutput { tool_id, output: ToolOutput::Text { text } }];
        }
        if shown.is_empty() && self.terminal == 0 {
            let outputs = self.outputs.iter().cloned();
            return outputs
                .map(|output| Happening::ToolOutput { tool_id: tool_id.clone(), output })
                .collect();
        }
        vec![Happening::ToolOutputs { tool_id, outputs: self.outputs.clone() }]
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

/// Gives what a text goes on with, where nothing else changed.
fn continuation(shown: &[ToolOutput], next: &[ToolOutput]) -> Option<String> {
    let (last, before) = shown.split_last()?;
    let (next_last, next_before) = next.split_last()?;
    match (last, next_last) {
        (ToolOutput::Text { text }, ToolOutput::Text { text: longer }) if before == next_before => {
            longer.strip_prefix(text.as_str()).map(str::to_owned)
        }
        _ => None,
    }
}

/// Puts texts that follow each other into one, as they are shown.
fn add_text(outputs: &mut Vec<ToolOutput>, words: &str) {
    if words.is_empty() {
        return;
    }
    match outputs.last_mut() {
        Some(ToolOutput::Text { text }) => *text = cut(&format!("{text}\n{words}")),
        _ => outputs.push(ToolOutput::Text { text: cut(words) }),
    }
}

fn cut(text: &str) -> String {
    match head(text, LONGEST_OUTPUT) {
        whole if whole.len() == text.len() => whole.to_owned(),
        part => format!("{part}{CUT}"),
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

fn one_line(title: &str) -> String {
    crate::domain::list::shorten(&title.split_whitespace().collect::<Vec<_>>().join(" "), 200)
}
