//! What can go wrong between a model server and us, in plain words.

use serde_json::Value;

use super::OpenAiSettings;
use crate::server::agents::json::{at, text};
use crate::server::agents::trace::head;

/// How much of what a server says about a problem is shown.
const LONGEST: usize = 400;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    NoServer,
    /// It answered with a status that is no success, and these words.
    Status {
        code: u16,
        said: String,
    },
    /// It said in the middle of an answer that something went wrong.
    Said(String),
    /// The answer broke off.
    Broken,
    Late,
    /// What it sent makes no sense.
    Strange(String),
}

impl Problem {
    /// Reads the words of a reply that is no success: servers wrap them in many ways.
    pub fn of_reply(code: u16, body: &str) -> Self {
        let said = serde_json::from_str::<Value>(body)
            .ok()
            .and_then(|body| words_of(&body).map(str::to_owned))
            .unwrap_or_else(|| body.trim().to_owned());
        Self::Status { code, said: head(&said, LONGEST).to_owned() }
    }

    /// Tells whether the server refuses a request because of what this word names.
    pub fn is_about(&self, word: &str) -> bool {
        match self {
            Self::Status { code: 400..=499, said } => said.to_lowercase().contains(word),
            _ => false,
        }
    }

    /// Says what happened to a person.
    pub fn words(&self, settings: &OpenAiSettings, model: &str) -> String {
        let OpenAiSettings { name, base_url, .. } = settings;
        match self {
            Self::NoServer => format!("No model server answers at {base_url}. Is it running?"),
            Self::Status { code: 401 | 403, said } => match &settings.key_variable {
                Some(variable) => {
                    format!("{name} refused the key in {variable}. {}", sentence(said))
                }
                None => format!("{name} wants a key. {}", sentence(said)),
            },
            Self::Status { code: 404, said } => {
                format!("{name} does not know the model “{model}”. {}", sentence(said))
            }
            Self::Status { code: 429, said } => {
                format!("{name} takes no more for now: its limit is reached. {}", sentence(said))
            }
            Self::Status { code: code @ 500..=599, said } => {
                format!("{name} failed with status {code}. {}", sentence(said))
            }
            Self::Status { code, said } => {
                format!("{name} refused with status {code}. {}", sentence(said))
            }
            Self::Said(said) => format!("{name} broke off. {}", sentence(said)),
            Self::Broken => {
                format!("The connection to {name} broke off in the middle of the answer.")
            }
            Self::Late => format!("{name} did not answer in time."),
            Self::Strange(what) => format!("{name} answered with something else: {what}"),
        }
        .trim_end()
        .to_owned()
    }
}

/// Finds the words about an error in what a server sent.
pub fn words_of(body: &Value) -> Option<&str> {
    let error = body.get("error").filter(|error| !error.is_null());
    error
        .and_then(|error| error.as_str().or_else(|| text(error, "message")))
        .or_else(|| text(body, "message"))
        .or_else(|| body.get("detail")?.as_str())
        .or_else(|| at(body, &["error", "code"]).and_then(Value::as_str))
}

fn sentence(said: &str) -> String {
    match said {
        "" => String::new(),
        said => format!("It says: {said}"),
    }
}
