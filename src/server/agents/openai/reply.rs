//! One reply of a model, put together from its pieces. Every server leaves something out or adds
//! something of its own, so nothing is expected and all that is known is taken.

use serde_json::{Value, json};

use super::client::said_in_stream;
use super::problem::Problem;
use crate::server::agents::agent::Happening;
use crate::server::agents::json::{count, list, text};

/// A tool that the model wants to be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Call {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reply {
    pub text: String,
    pub calls: Vec<Call>,
    /// Why the model stopped, where it says so.
    pub finish: Option<String>,
    /// Tokens that went in and came out, where the server counts them.
    pub tokens: Option<(u64, u64)>,
}

impl Reply {
    /// Adds one piece, or a reply that comes whole.
    pub fn read(&mut self, chunk: &Value) -> Result<Vec<Happening>, Problem> {
        if let Some(problem) = said_in_stream(chunk) {
            return Err(problem);
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            let of = |key| count(usage, key).unwrap_or_default();
            self.tokens = Some((of("prompt_tokens"), of("completion_tokens")));
        }
        let mut happenings = Vec::new();
        for choice in list(chunk, "choices") {
            if let Some(reason) = text(choice, "finish_reason") {
                self.finish = Some(reason.to_owned());
            }
            let piece = choice.get("delta").or_else(|| choice.get("message"));
            happenings.extend(self.read_piece(piece.unwrap_or(&Value::Null)));
        }
        Ok(happenings)
    }

    fn read_piece(&mut self, piece: &Value) -> Vec<Happening> {
        let mut happenings = Vec::new();
        let said = |key| text(piece, key).filter(|words| !words.is_empty());
        if let Some(words) = said("reasoning_content").or_else(|| said("reasoning")) {
            happenings.push(Happening::Thinking(words.to_owned()));
        }
        if let Some(words) = said("content") {
            self.text.push_str(words);
            happenings.push(Happening::Text(words.to_owned()));
        }
        for piece in list(piece, "tool_calls") {
            self.read_call(piece);
        }
        happenings
    }

    /// Adds a piece of a call to the one that it belongs to: by its number, by its id, or to the
    /// last.
    fn read_call(&mut self, piece: &Value) {
        let id = text(piece, "id").filter(|id| !id.is_empty());
        let function = piece.get("function").unwrap_or(&Value::Null);
        let name = text(function, "name").filter(|name| !name.is_empty());
        let known = id.and_then(|id| self.calls.iter().position(|call| call.id == id));
        let place = match (count(piece, "index"), known) {
            (Some(index), None) if id.is_none() || name.is_none() => index as usize,
            (_, Some(known)) => known,
            // A name begins a call, whatever number it has: some servers number all of them 0.
            (_, None) if name.is_some() => self.calls.len(),
            _ => self.calls.len().saturating_sub(1),
        };
        let place = place.min(self.calls.len());
        if place == self.calls.len() {
            let id = format!("call-{place}");
            self.calls.push(Call { id, ..Call::default() });
        }
        let Some(call) = self.calls.get_mut(place) else { return };
        if let Some(id) = id {
            id.clone_into(&mut call.id);
        }
        if let Some(name) = name {
            name.clone_into(&mut call.name);
        }
        match function.get("arguments") {
            Some(Value::String(piece)) => call.arguments.push_str(piece),
            Some(whole @ Value::Object(_)) => call.arguments = whole.to_string(),
            _ => {}
        }
    }

    pub fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// Words the reply as the model is told about it at the next step.
    pub fn message(&self) -> Value {
        let mut message = json!({ "role": "assistant", "content": self.text });
        if !self.calls.is_empty() {
            let calls = self.calls.iter().map(|call| {
                let function = json!({ "name": call.name, "arguments": call.arguments });
                json!({ "id": call.id, "type": "function", "function": function })
            });
            message["tool_calls"] = calls.collect();
        }
        message
    }
}
