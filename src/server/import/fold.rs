//! Makes messages of what an agent tells anew, by the same fold that makes them of a live answer.

use std::io;

use crate::domain::event::Event;
use crate::domain::live::Live;
use crate::domain::message::{Attachment, Message, MessageState, Part, Role};
use crate::domain::time::Timestamp;
use crate::server::agents::agent::{Ending, Happening};
use crate::server::agents::remembered::Retold;
use crate::server::blobs::Blobs;
use crate::server::mint;
use crate::server::sessions::write_down;

/// Writes a whole conversation down. Pieces without a time get the one given.
pub async fn messages(
    pieces: Vec<Retold>,
    blobs: &Blobs,
    otherwise: Timestamp,
) -> io::Result<Vec<Message>> {
    let mut fold = Fold { live: Live::default(), named: None, now: otherwise };
    for Retold { role, message, at, happening } in pieces {
        fold.now = at.unwrap_or(fold.now);
        let happening = match happening {
            Happening::File { name, media_type, bytes } => {
                let size = bytes.len() as u64;
                let blob = blobs.write(bytes).await?;
                Piece::Part(Part::Attachment(Attachment { blob, name, media_type, size }))
            }
            other => Piece::Happening(other),
        };
        fold.add(role, message, happening);
    }
    fold.end(MessageState::Complete);
    Ok(fold.live.messages)
}

enum Piece {
    Part(Part),
    Happening(Happening),
}

struct Fold {
    live: Live,
    /// The agent's own name for the message that the last piece belongs to.
    named: Option<String>,
    now: Timestamp,
}

impl Fold {
    fn add(&mut self, role: Role, named: Option<String>, piece: Piece) {
        let known = self.live.messages.last().map(|last| (last.role, last.state));
        if let Piece::Happening(Happening::Ended(ending)) = piece {
            if known == Some((Role::Assistant, MessageState::Streaming)) {
                self.end(state_of(ending));
            }
            return;
        }
        let continues = match role {
            Role::Assistant => known == Some((role, MessageState::Streaming)),
            _ => known.is_some_and(|(last, _)| last == role) && self.named == named,
        };
        let follows = continues && self.named != named;
        self.named = named;
        if !continues {
            self.end(MessageState::Complete);
            self.begin(role);
        }
        match (role, piece) {
            (_, Piece::Part(part)) => self.put(part),
            (Role::Assistant, Piece::Happening(happening)) => self.answer(happening, follows),
            (_, Piece::Happening(Happening::Text(words))) => self.say(words),
            (_, Piece::Happening(Happening::Notice { level, text })) => {
                self.put(Part::Notice { level, text });
            }
            (_, Piece::Happening(_)) => {}
        }
    }

    fn begin(&mut self, role: Role) {
        let (state, ended_at) = match role {
            Role::Assistant => (MessageState::Streaming, None),
            Role::User | Role::System => (MessageState::Complete, Some(self.now)),
        };
        let message = Message {
            message_id: mint::message_id(),
            turn_id: None,
            role,
            state,
            parts: Vec::new(),
            usage: None,
            created_at: self.now,
            ended_at,
            recovered: false,
        };
        self.live.apply(&Event::MessageStart { message });
    }

    /// Goes on with an answer. The words of another message of the agent are a paragraph of their
    /// own.
    fn answer(&mut self, happening: Happening, follows: bool) {
        let Some(answer) = self.live.messages.last() else { return };
        let happening = match (happening, answer.parts.last()) {
            (Happening::Text(words), Some(Part::Text { .. })) if follows => {
                Happening::Text(["\n\n", &words].concat())
            }
            (Happening::Thinking(words), Some(Part::Thinking { .. })) if follows => {
                Happening::Thinking(["\n\n", &words].concat())
            }
            (happening, _) => happening,
        };
        for event in write_down(answer, happening, self.now) {
            self.live.apply(&event);
        }
    }

    fn say(&mut self, words: String) {
        let Some(message) = self.live.messages.last_mut() else { return };
        match message.parts.last_mut() {
            Some(Part::Text { text }) => text.push_str(&words),
            _ => message.parts.push(Part::Text { text: words }),
        }
    }

    fn put(&mut self, part: Part) {
        if let Some(message) = self.live.messages.last_mut() {
            message.parts.push(part);
        }
    }

    /// Ends the answer that is still under way.
    fn end(&mut self, state: MessageState) {
        let last = self.live.messages.last_mut();
        if let Some(answer) = last.filter(|last| last.state == MessageState::Streaming) {
            answer.end(state, self.now);
        }
    }
}

fn state_of(ending: Ending) -> MessageState {
    match ending {
        Ending::Completed => MessageState::Complete,
        Ending::Cancelled => MessageState::Cancelled,
        Ending::Failed => MessageState::Failed,
    }
}
