//! What pi's extensions ask of a person, and what they show.

use serde_json::{Value, json};

use crate::domain::ids::RequestId;
use crate::domain::message::{Choice, ChoiceTone, NoticeLevel, Question};
use crate::server::agents::agent::Happening;
use crate::server::agents::content::unknown;
use crate::server::agents::json::{list, text};
use crate::server::agents::trace::head;

/// How much of what is asked about is shown.
const LONGEST_DETAIL: usize = 4 << 10;

const YES: &str = "yes";
const NO: &str = "no";
const KEEP: &str = "keep";

/// A dialog that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialog {
    /// Under which id the extension wants the answer.
    id: String,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Confirm,
    Select,
    /// Words are wanted; these are proposed.
    Words(String),
}

impl Dialog {
    /// Reads a request that wants an answer.
    pub fn read(request: &Value) -> Option<Self> {
        let kind = match text(request, "method")? {
            "confirm" => Kind::Confirm,
            "select" => Kind::Select,
            "input" => Kind::Words(String::new()),
            "editor" => Kind::Words(text(request, "prefill").unwrap_or_default().to_owned()),
            _ => return None,
        };
        Some(Self { id: text(request, "id")?.to_owned(), kind })
    }

    /// Words the request as a question.
    pub fn question(&self, request_id: RequestId, request: &Value) -> Question {
        let title = text(request, "title").unwrap_or("The agent asks");
        let detail = match &self.kind {
            Kind::Words(proposed) if !proposed.is_empty() => proposed,
            Kind::Words(_) => text(request, "placeholder").unwrap_or_default(),
            _ => text(request, "message").unwrap_or_default(),
        };
        let options = match &self.kind {
            Kind::Confirm => {
                vec![choice(YES, "Yes", ChoiceTone::Allow), choice(NO, "No", ChoiceTone::Reject)]
            }
            Kind::Select => list(request, "options")
                .iter()
                .filter_map(Value::as_str)
                .map(|option| choice(option, option, ChoiceTone::Neutral))
                .collect(),
            Kind::Words(proposed) => {
                let label = if proposed.is_empty() { "Leave it empty" } else { "Keep it as it is" };
                vec![
                    choice(KEEP, label, ChoiceTone::Neutral),
                    choice(NO, "Cancel", ChoiceTone::Reject),
                ]
            }
        };
        Question {
            request_id,
            title: head(title, 200).to_owned(),
            detail: head(detail, LONGEST_DETAIL).to_owned(),
            options,
            answer: None,
        }
    }

    /// Makes the answer of an option, or of nobody.
    pub fn response(&self, option: Option<&str>) -> Value {
        let mut response = match (&self.kind, option) {
            (Kind::Confirm, Some(option)) => json!({ "confirmed": option == YES }),
            (Kind::Select, Some(option)) => json!({ "value": option }),
            (Kind::Words(proposed), Some(KEEP)) => json!({ "value": proposed }),
            _ => json!({ "cancelled": true }),
        };
        response["type"] = "extension_ui_response".into();
        response["id"] = self.id.clone().into();
        response
    }
}

fn choice(option: &str, label: &str, tone: ChoiceTone) -> Choice {
    Choice { option: option.to_owned(), label: label.to_owned(), tone }
}

/// Translates what an extension shows without asking.
pub fn show(request: &Value) -> Option<Happening> {
    let level = match text(request, "notifyType") {
        Some("error") => NoticeLevel::Error,
        Some("warning") => NoticeLevel::Warning,
        _ => NoticeLevel::Info,
    };
    let words = match text(request, "method").unwrap_or("nothing") {
        "notify" => text(request, "message").unwrap_or_default().to_owned(),
        "setStatus" => text(request, "statusText").unwrap_or_default().to_owned(),
        "setWidget" => {
            let lines = list(request, "widgetLines").iter().filter_map(Value::as_str);
            lines.collect::<Vec<_>>().join("\n")
        }
        "set_editor_text" => {
            let text = text(request, "text").unwrap_or_default();
            format!("Proposed for your next message: {}", head(text, LONGEST_DETAIL))
        }
        // The title of a terminal window, which there is not.
        "setTitle" => return None,
        method => return Some(unknown(method)),
    };
    (!words.trim().is_empty()).then_some(Happening::Notice { level, text: words })
}
