//! The conversation in view, as the rest of the app knows it. Its own code is a part that is loaded
//! with its page, so it is known by what it does.

use std::sync::Arc;

use serde_json::value::RawValue;

use crate::domain::ids::{Epoch, Seq, SessionId, TurnId};
use crate::wire::outbox::OutboxTurn;
use crate::wire::socket::Subscription;

pub trait InView: Send + Sync {
    fn session_id(&self) -> &SessionId;

    /// Names what the browser wants to hear of the conversation, and from where on.
    fn subscription(&self) -> Subscription;

    /// Names the turns that the conversation itself shows.
    fn turns(&self) -> Vec<TurnId>;

    /// Takes one numbered event: applies it, ignores it, or fetches anew where one is missing.
    fn receive(&self, epoch: &Epoch, seq: Seq, event: &RawValue);

    /// Fetches the conversation anew and goes on from there.
    fn refetch(&self);

    /// Leads the reader to where the conversation goes on.
    fn follow(&self, continuation: SessionId);

    /// Puts a prompt that could not be sent back where it was written, and says why.
    fn give_back(&self, turn: OutboxTurn, problem: String);
}

pub type Focused = Arc<dyn InView>;
