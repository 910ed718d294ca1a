//! A conversation as a Markdown document.

use super::{Conversation, ConversationPart};
use crate::domain::list::shown_title;
use crate::domain::message::{
    Message, MessageState, NoticeLevel, Part, PlanState, Question, Role, ToolCall, ToolOutput,
    ToolState,
};

/// Writes a conversation as a person would like to read it.
pub fn write(conversation: &Conversation) -> String {
    let mut page = Page::default();
    let title = conversation.title.split_whitespace().collect::<Vec<_>>().join(" ");
    page.block(&format!("# {}", shown_title(&title)));
    let several = conversation.parts.len() > 1;
    for (place, part) in conversation.parts.iter().enumerate() {
        if several {
            page.block(&format!("## Part {}", place + 1));
        }
        page.part(part);
    }
    if !conversation.attachments.is_empty() {
        page.block("## Files");
        let files = conversation.attachments.iter().map(|file| {
            let (name, kind, size) = (inline(&file.name), inline(&file.media_type), file.size);
            format!("- {name} ({kind}, {size} bytes): `blobs/{}`", file.blob)
        });
        page.block(&files.collect::<Vec<_>>().join("\n"));
    }
    page.text
}

#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    /// Adds a block, with an empty line before it.
    fn block(&mut self, block: &str) {
        let block = block.trim_end();
        if block.trim().is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(block);
        self.text.push('\n');
    }

    fn part(&mut self, part: &ConversationPart) {
        for message in &part.messages {
            self.message(message);
        }
    }

    fn message(&mut self, message: &Message) {
        let who = match message.role {
            Role::User => "You",
            Role::Assistant => "Agent",
            Role::System => "Summary of the earlier part",
        };
        let state = match message.state {
            MessageState::Complete => "",
            MessageState::Streaming => " (under way)",
            MessageState::Cancelled => " (stopped)",
            MessageState::Failed => " (failed)",
            MessageState::Crashed => " (the agent crashed)",
            MessageState::Interrupted => " (interrupted)",
            MessageState::Waiting => " (waiting for an answer)",
        };
        self.block(&format!("### {who}, {}{state}", message.created_at));
        for part in &message.parts {
            self.message_part(part);
        }
    }

    fn message_part(&mut self, part: &Part) {
        match part {
            Part::Text { text } => self.block(text),
            Part::Thinking { text } => self.block(&quoted(text)),
            Part::Tool(tool) => self.tool(tool),
            Part::Attachment(file) => self.block(&format!("File: {}", inline(&file.name))),
            Part::Plan { entries } => {
                let lines = entries.iter().map(|entry| {
                    let done = if entry.state == PlanState::Done { "x" } else { " " };
                    format!("- [{done}] {}", inline(&entry.text))
                });
                self.block(&lines.collect::<Vec<_>>().join("\n"));
            }
            Part::Question(question) => self.question(question),
            Part::Notice { level, text } => {
                let kind = match level {
                    NoticeLevel::Info => "Note",
                    NoticeLevel::Warning => "Warning",
                    NoticeLevel::Error => "Error",
                };
                self.block(&quoted(&format!("{kind}: {text}")));
            }
        }
    }

    fn tool(&mut self, tool: &ToolCall) {
        let state = match tool.state {
            ToolState::Running => "under way",
            ToolState::Done => "done",
            ToolState::Failed => "failed",
            ToolState::Skipped => "skipped",
        };
        self.block(&format!("Tool {} {} ({state})", inline(&tool.name), inline(&tool.target)));
        for output in &tool.output {
            match output {
                ToolOutput::Text { text } => self.block(&fenced(text, "")),
                ToolOutput::Diff { path, old, new } => {
                    let removed = old.lines().map(|line| format!("-{line}"));
                    let added = new.lines().map(|line| format!("+{line}"));
                    let lines: Vec<_> = removed.chain(added).collect();
                    self.block(&format!("Change of {}", inline(path)));
                    self.block(&fenced(&lines.join("\n"), "diff"));
                }
            }
        }
    }

    fn question(&mut self, question: &Question) {
        let chosen = question.answer.as_ref().map(|answer| {
            let choice = question.options.iter().find(|choice| choice.option == *answer);
            choice.map_or(answer.as_str(), |choice| choice.label.as_str())
        });
        let answer = chosen.unwrap_or("not answered");
        let text = format!("Question: {}\n{}\nAnswer: {answer}", question.title, question.detail);
        self.block(&quoted(&text));
    }
}

/// Sets a text apart as a quotation.
fn quoted(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim().is_empty()).map(|line| format!("> {line}"));
    lines.collect::<Vec<_>>().join("\n>\n")
}

/// Frames a text so that nothing in it can end the frame.
fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end())
}

/// Writes a name as code, in one line.
fn inline(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'");
    if text.is_empty() { text } else { format!("`{text}`") }
}
