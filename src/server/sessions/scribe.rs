//! Writes an agent's happenings down as events of one answer.

use crate::domain::event::{DeltaKind, Event};
use crate::domain::ids::MessageId;
use crate::domain::message::{Message, NoticeLevel, Part, ToolCall, ToolState};
use crate::domain::time::Timestamp;
use crate::server::agents::agent::Happening;

/// Translates one happening into events of the given answer.
///
/// What needs the disk, ends the turn or is about the session as a whole is the session's own
/// business and gives nothing here.
pub fn write_down(answer: &Message, happening: Happening, now: Timestamp) -> Vec<Event> {
    let message_id = answer.message_id.clone();
    let end = answer.parts.len();
    let event = match happening {
        Happening::Text(text) => delta(answer, DeltaKind::Text, text),
        Happening::Thinking(text) => delta(answer, DeltaKind::Thinking, text),
        Happening::ToolStarted { tool_id, name, target } => {
            let (part, known) = find_tool(answer, &tool_id).unzip();
            let tool = match known {
                Some(known) => ToolCall { name, target, ..known },
                None => ToolCall {
                    tool_id,
                    name,
                    target,
                    state: ToolState::Running,
                    output: Vec::new(),
                    started_at: now,
                    ended_at: None,
                },
            };
            Event::ToolStart { message_id, part: part.unwrap_or(end), tool: Part::Tool(tool) }
        }
        Happening::ToolOutputs { tool_id, outputs } => {
            let Some((part, known)) = find_tool(answer, &tool_id) else {
                return Vec::new();
            };
            let tool = Part::Tool(ToolCall { output: outputs, ..known });
            Event::ToolStart { message_id, part, tool }
        }
        Happening::ToolOutput { tool_id, output } => {
            Event::ToolUpdate { message_id, tool_id, output }
        }
        Happening::ToolEnded { tool_id, state } => {
            Event::ToolEnd { message_id, tool_id, state, at: now }
        }
        Happening::Plan(entries) => {
            let part = place_of_plan(answer).unwrap_or(end);
            Event::Plan { message_id, part, plan: Part::Plan { entries } }
        }
        Happening::Question(question) => {
            Event::Question { message_id, part: end, question: Part::Question(question) }
        }
        Happening::Answered { request_id, option } => {
            Event::Answered { message_id, request_id, option }
        }
        Happening::Usage(usage) => Event::Usage { message_id, usage },
        Happening::Notice { level, text } => notice(message_id, end, level, text),
        Happening::Failed { phase, message } => {
            let shown = notice(message_id, end, NoticeLevel::Error, message.clone());
            return vec![shown, Event::RpcError { phase, message }];
        }
        Happening::File { .. }
        | Happening::Compacted { .. }
        | Happening::Ended(_)
        | Happening::Session(_)
        | Happening::Title(_)
        | Happening::Options(_)
        | Happening::Commands(_)
        | Happening::Crashed { .. } => return Vec::new(),
    };
    vec![event]
}

fn notice(message_id: MessageId, part: usize, level: NoticeLevel, text: String) -> Event {
    Event::Notice { message_id, part, notice: Part::Notice { level, text } }
}

/// Goes on with the last part where it is of the same kind, or begins a new one.
fn delta(answer: &Message, kind: DeltaKind, text: String) -> Event {
    let continues = matches!(
        (kind, answer.parts.last()),
        (DeltaKind::Text, Some(Part::Text { .. }))
            | (DeltaKind::Thinking, Some(Part::Thinking { .. }))
    );
    let part = answer.parts.len() - usize::from(continues);
    Event::MessageDelta { message_id: answer.message_id.clone(), part, kind, text }
}

fn place_of_plan(answer: &Message) -> Option<usize> {
    answer.parts.iter().position(|part| matches!(part, Part::Plan { .. }))
}

fn find_tool(answer: &Message, tool_id: &str) -> Option<(usize, ToolCall)> {
    answer.parts.iter().enumerate().find_map(|(place, part)| match part {
        Part::Tool(tool) if tool.tool_id == tool_id => Some((place, tool.clone())),
        _ => None,
    })
}
