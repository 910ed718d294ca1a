//! What a view of one message listens to.

use leptos::prelude::*;

use crate::domain::ids::MessageId;
use crate::domain::message::Message;

/// A message on the page, by its id, and the triggers of its views.
#[derive(Clone)]
pub struct Entry {
    pub message_id: MessageId,
    /// Fires when the message's state or number of parts changes.
    pub changed: ArcTrigger,
    /// One for each part, fired when that part changes.
    parts: ArcStoredValue<Vec<ArcTrigger>>,
}

impl Entry {
    pub fn new(message: &Message) -> Self {
        let entry = Self {
            message_id: message.message_id.clone(),
            changed: ArcTrigger::new(),
            parts: ArcStoredValue::new(Vec::new()),
        };
        entry.grow_to(message.parts.len());
        entry
    }

    /// Makes a trigger for each new part, and tells whether there was one.
    pub fn grow_to(&self, parts: usize) -> bool {
        self.parts
            .try_update_value(|known| {
                let grew = known.len() < parts;
                known.resize_with(known.len().max(parts), ArcTrigger::new);
                grew
            })
            .unwrap_or(false)
    }

    pub fn notify(&self) {
        self.parts.get_value().iter().for_each(ArcTrigger::notify);
        self.changed.notify();
    }

    pub fn part(&self, place: usize) -> ArcTrigger {
        self.parts.with_value(|parts| parts.get(place).cloned()).unwrap_or_default()
    }
}
