//! A permission that an agent asks for, as a question to a person.

use serde_json::Value;

use crate::domain::ids::RequestId;
use crate::domain::message::{Choice, ChoiceTone, Question};
use crate::server::agents::json::{list, text};
use crate::server::agents::trace::head;

/// How much of what is asked about is shown.
const LONGEST_DETAIL: usize = 4 << 10;

/// Words a question with the answers that the agent offers.
pub fn question(request_id: RequestId, params: &Value) -> Question {
    let call = params.get("toolCall").unwrap_or(&Value::Null);
    let title = text(call, "title").unwrap_or("this");
    let asked = match text(call, "kind").unwrap_or_default() {
        "execute" => "Run this command?".to_owned(),
        "edit" => "Change this file?".to_owned(),
        "delete" => "Delete this?".to_owned(),
        "move" => "Move this?".to_owned(),
        "read" => "Read this?".to_owned(),
        "search" => "Search for this?".to_owned(),
        "fetch" => "Fetch this?".to_owned(),
        _ => format!("Allow “{}”?", head(title, 80)),
    };
    let detail = detail(call).unwrap_or_else(|| title.to_owned());
    Question {
        request_id,
        title: asked,
        detail: head(&detail, LONGEST_DETAIL).to_owned(),
        options: list(params, "options").iter().filter_map(choice).collect(),
        answer: None,
    }
}

/// Finds what a tool works on: the command, or else what it was given.
fn detail(call: &Value) -> Option<String> {
    let input = call.get("rawInput")?;
    match input.get("command") {
        Some(Value::String(command)) => return Some(command.clone()),
        Some(Value::Array(words)) => {
            let words = words.iter().filter_map(Value::as_str);
            return Some(words.collect::<Vec<_>>().join(" "));
        }
        _ => {}
    }
    let keys = ["file_path", "path", "url", "pattern", "query"];
    keys.iter().find_map(|key| text(input, key)).map(str::to_owned)
}

fn choice(told: &Value) -> Option<Choice> {
    let option = text(told, "optionId")?;
    let kind = text(told, "kind").unwrap_or_default();
    let tone = match kind {
        "allow_once" | "allow_always" => ChoiceTone::Allow,
        "reject_once" | "reject_always" => ChoiceTone::Reject,
        _ => ChoiceTone::Neutral,
    };
    // Some agents give the name of the kind for a label.
    let label = match text(told, "name").filter(|name| *name != kind) {
        Some(name) => name,
        None => match kind {
            "allow_once" => "Allow once",
            "allow_always" => "Always allow",
            "reject_once" => "Reject",
            "reject_always" => "Always reject",
            _ => option,
        },
    };
    Some(Choice { option: option.to_owned(), label: label.to_owned(), tone })
}
