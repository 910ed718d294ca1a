//! What a model is told at each step, for it remembers nothing.

use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::domain::message::{Attachment, Message, Part, Role};
use crate::server::blobs::Blobs;

/// The largest file whose text goes along with a prompt.
const LARGEST_TEXT: u64 = 256 << 10;

/// Asks for a summary in the person's place.
const SUMMARISE: &str = "Summarise this conversation so that it can go on from your summary alone. \
    Say what is wanted, what was decided and done, which files and names matter, and what comes \
    next. Leave out what no longer matters. Write nothing but the summary.";

/// The messages of one conversation, after a beginning that says where the model is.
#[derive(Debug, Default)]
pub struct History {
    beginning: String,
    messages: Vec<Value>,
    /// What is being said.
    saying: String,
}

impl History {
    /// Begins with what was said since the last summary.
    pub fn new(folder: &Path, earlier: &[Message]) -> Self {
        let summary = earlier.iter().rposition(|message| message.role == Role::System);
        let mut beginning = format!(
            "You help a person in a conversation about the folder {}. You can look at files, change \
             them and run commands there with your tools; the person is asked before anything \
             changes. Paths are relative to the folder. Answer in Markdown, and to the point.",
            folder.display()
        );
        if let Some(summary) = summary.and_then(|place| earlier.get(place)) {
            beginning.push_str("\n\nWhat was said before, in short:\n\n");
            beginning.push_str(&summary.text());
        }
        let mut history = Self { beginning, ..Self::default() };
        for message in earlier.iter().skip(summary.map_or(0, |place| place + 1)) {
            let role = if message.role == Role::User { "user" } else { "assistant" };
            history.add_words(role, &retold(message));
        }
        history
    }

    /// Gives all messages in the order in which a model takes them.
    pub fn messages(&self) -> Vec<Value> {
        let beginning = json!({ "role": "system", "content": self.beginning });
        std::iter::once(beginning).chain(self.messages.iter().cloned()).collect()
    }

    /// Gives what asks for a summary.
    pub fn summary_request(&self) -> Vec<Value> {
        let mut messages = self.messages();
        messages.push(json!({ "role": "user", "content": SUMMARISE }));
        messages
    }

    pub fn add(&mut self, message: Value) {
        self.saying.clear();
        self.messages.push(message);
    }

    /// Notes words while they come, so that an answer that is broken off is not forgotten.
    pub fn note(&mut self, words: &str) {
        self.saying.push_str(words);
    }

    /// Keeps what was said of an answer that was broken off.
    pub fn break_off(&mut self) {
        let said = std::mem::take(&mut self.saying);
        self.add_words("assistant", &said);
    }

    /// Adds words; models want people and themselves to take turns.
    fn add_words(&mut self, role: &str, words: &str) {
        let words = words.trim();
        if words.is_empty() {
            return;
        }
        match self.messages.last_mut() {
            Some(last) if last["role"] == role && last["content"].is_string() => {
                let before = last["content"].as_str().unwrap_or_default();
                last["content"] = format!("{before}\n\n{words}").into();
            }
            _ => self.messages.push(json!({ "role": role, "content": words })),
        }
    }
}

/// Tells a stored message again, with a line for each tool that was used.
fn retold(message: &Message) -> String {
    let lines = message.parts.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.clone()),
        Part::Tool(tool) => Some(format!("({} {})", tool.name, tool.target)),
        Part::Attachment(file) => Some(format!("(attached: {})", file.name)),
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n\n")
}

/// Makes a prompt: pictures as data, texts as texts, and other files by their name.
pub async fn prompt(words: &str, attachments: &[Attachment], blobs: &Blobs) -> Value {
    let (mut text, mut pictures) = (words.to_owned(), Vec::new());
    for attachment in attachments {
        let Attachment { blob, name, media_type, size } = attachment;
        let wanted = attachment.is_image() || *size <= LARGEST_TEXT;
        let bytes = if wanted { blobs.read(blob).await.ok().flatten() } else { None };
        match bytes.map(|bytes| (attachment.is_image(), bytes)) {
            Some((true, bytes)) => {
                let url = format!("data:{media_type};base64,{}", BASE64_STANDARD.encode(bytes));
                pictures.push(json!({ "type": "image_url", "image_url": { "url": url } }));
            }
            Some((false, bytes)) if std::str::from_utf8(&bytes).is_ok() => {
                let held = String::from_utf8_lossy(&bytes);
                text.push_str(&format!("\n\nThe file {name}:\n\n{held}"));
            }
            _ => text.push_str(&format!("\n\n(The file {name} is attached and cannot be shown.)")),
        }
    }
    if pictures.is_empty() {
        return json!({ "role": "user", "content": text });
    }
    pictures.insert(0, json!({ "type": "text", "text": text }));
    json!({ "role": "user", "content": pictures })
}
