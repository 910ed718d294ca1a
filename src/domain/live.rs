//! The live state of one session: the same fold on the server and in the browser.

use serde::{Deserialize, Serialize};

use super::event::{DeltaKind, Event, Outcome};
use super::ids::{MessageId, SessionId, TurnId};
use super::message::{Message, Part, Role, ToolOutput};
use super::session::Status;

/// What a session's events add up to.
///
/// The server holds the messages of the turn under way; the browser holds those of the page it
/// fetched. Both apply the same events to them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Live {
    pub status: Status,
    pub turn_id: Option<TurnId>,
    /// Turns that wait for the one under way to end, in their order.
    pub queued: Vec<TurnId>,
    pub messages: Vec<Message>,
    /// What went wrong last, until the next turn starts.
    pub error: Option<String>,
    /// Where the conversation went on after compression.
    pub continuation: Option<SessionId>,
}

/// Says what an event touched, so that a view redraws that and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Nothing,
    /// Status, turn, error or continuation.
    Session,
    /// A message appeared at this place.
    Added(usize),
    /// The message at this place is gone.
    Removed(usize),
    /// The message at this place changed as a whole.
    Message(usize),
    /// One part of the message at this place changed or was added.
    Part {
        message: usize,
        part: usize,
    },
}

/// How much of one message an edit touched.
enum Touched {
    Whole,
    Part(usize),
}

impl Live {
    /// Applies one event; an event that fits nothing changes nothing.
    pub fn apply(&mut self, event: &Event) -> Change {
        match event {
            Event::AgentStart { turn_id, .. } => {
                self.turn_id = Some(turn_id.clone());
                self.queued.retain(|queued| queued != turn_id);
                self.status = Status::Streaming;
                self.error = None;
                Change::Session
            }
            Event::MessageStart { message } => self.start(message),
            Event::MessageRemoved { message_id } => self.remove(message_id),
            Event::MessageDelta { message_id, part, kind, text } => self
                .change(message_id, |message| {
                    append(message, *part, *kind, text).then_some(Touched::Part(*part))
                }),
            Event::MessageEnd { message_id, state, at } => {
                let change = self.change(message_id, |message| {
                    message.end(*state, *at);
                    Some(Touched::Whole)
                });
                self.settle_status();
                change
            }
            Event::ToolStart { message_id, part, tool: content }
            | Event::Plan { message_id, part, plan: content }
            | Event::Notice { message_id, part, notice: content } => {
                self.change(message_id, |message| put(message, *part, content))
            }
            Event::Question { message_id, part, question } => {
                self.status = Status::Waiting;
                self.change(message_id, |message| put(message, *part, question))
            }
            Event::ToolUpdate { message_id, tool_id, output } => {
                self.change(message_id, |message| extend_tool(message, tool_id, output))
            }
            Event::ToolEnd { message_id, tool_id, state, at } => {
                self.change(message_id, |message| {
                    let (part, tool) = message.tool_mut(tool_id)?;
                    tool.state = *state;
                    tool.ended_at = Some(*at);
                    Some(Touched::Part(part))
                })
            }
            Event::Answered { message_id, request_id, option } => {
                let change = self.change(message_id, |message| {
                    let (part, question) = message.question_mut(request_id)?;
                    question.answer = Some(option.clone());
                    Some(Touched::Part(part))
                });
                self.settle_status();
                change
            }
            Event::Usage { message_id, usage } => self.change(message_id, |message| {
                message.usage = Some(*usage);
                Some(Touched::Whole)
            }),
            Event::Compressed { continuation, .. } => {
                self.continuation = Some(continuation.clone());
                Change::Session
            }
            Event::AgentEnd { outcome, .. } => {
                self.turn_id = None;
                self.status = match outcome {
                    Outcome::Completed | Outcome::Cancelled => Status::Idle,
                    Outcome::Interrupted if self.open_questions() > 0 => Status::Waiting,
                    Outcome::Failed | Outcome::Crashed | Outcome::Interrupted => Status::Error,
                };
                Change::Session
            }
            Event::RpcError { message, .. } | Event::RpcProcessCrashed { message } => {
                self.error = Some(message.clone());
                Change::Session
            }
        }
    }

    /// Tells how the agent was lost while nothing was asked of it.
    pub fn lost(&self) -> Option<&str> {
        self.error.as_deref().filter(|_| self.status == Status::Idle)
    }

    /// Counts the questions that wait for a person.
    pub fn open_questions(&self) -> usize {
        self.messages.iter().map(|message| message.open_questions().count()).sum()
    }

    fn start(&mut self, message: &Message) -> Change {
        match self.place(&message.message_id) {
            Some(place) => {
                if let Some(known) = self.messages.get_mut(place) {
                    known.clone_from(message);
                }
                Change::Message(place)
            }
            None => {
                if message.role == Role::User {
                    self.queued.extend(message.turn_id.clone());
                }
                self.messages.push(message.clone());
                Change::Added(self.messages.len() - 1)
            }
        }
    }

    fn remove(&mut self, id: &MessageId) -> Change {
        let Some(place) = self.place(id) else {
            return Change::Nothing;
        };
        let removed = self.messages.remove(place);
        self.queued.retain(|queued| Some(queued) != removed.turn_id.as_ref());
        Change::Removed(place)
    }

    fn change(
        &mut self,
        id: &MessageId,
        edit: impl FnOnce(&mut Message) -> Option<Touched>,
    ) -> Change {
        let Some(place) = self.place(id) else {
            return Change::Nothing;
        };
        match self.messages.get_mut(place).and_then(edit) {
            Some(Touched::Whole) => Change::Message(place),
            Some(Touched::Part(part)) => Change::Part { message: place, part },
            None => Change::Nothing,
        }
    }

    /// Finds a message from the end, where nearly every event belongs.
    fn place(&self, id: &MessageId) -> Option<usize> {
        self.messages.iter().rposition(|message| message.message_id == *id)
    }

    fn settle_status(&mut self) {
        if self.status == Status::Waiting && self.open_questions() == 0 {
            self.status = match self.turn_id {
                Some(_) => Status::Streaming,
                None => Status::Idle,
            };
        }
    }
}

fn append(message: &mut Message, place: usize, kind: DeltaKind, delta: &str) -> bool {
    if place == message.parts.len() {
        let text = delta.to_owned();
        message.parts.push(match kind {
            DeltaKind::Text => Part::Text { text },
            DeltaKind::Thinking => Part::Thinking { text },
        });
        return true;
    }
    match (kind, message.parts.get_mut(place)) {
        (DeltaKind::Text, Some(Part::Text { text }))
        | (DeltaKind::Thinking, Some(Part::Thinking { text })) => {
            grow(text, delta);
            true
        }
        _ => false,
    }
}

/// Adds to a text with little room to spare: one that doubled as it grows would take a phone twice
/// its size, and leave as much behind.
fn grow(text: &mut String, delta: &str) {
    if text.capacity() - text.len() < delta.len() {
        text.reserve_exact(delta.len() + text.len() / 8);
    }
    text.push_str(delta);
}

fn put(message: &mut Message, place: usize, part: &Part) -> Option<Touched> {
    if place == message.parts.len() {
        message.parts.push(part.clone());
    } else {
        message.parts.get_mut(place)?.clone_from(part);
    }
    Some(Touched::Part(place))
}

fn extend_tool(message: &mut Message, tool_id: &str, output: &ToolOutput) -> Option<Touched> {
    let (part, tool) = message.tool_mut(tool_id)?;
    match (tool.output.last_mut(), output) {
        (Some(ToolOutput::Text { text }), ToolOutput::Text { text: more }) => text.push_str(more),
        _ => tool.output.push(output.clone()),
    }
    Some(Touched::Part(part))
}
