//! What agents remember by themselves: conversations that were perhaps never here.

use super::agent::Happening;
use crate::domain::message::Role;
use crate::domain::time::Timestamp;

/// A conversation that an agent can tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// The agent's own name for it.
    pub agent_session: String,
    pub title: String,
    pub updated_at: Option<Timestamp>,
}

/// One piece of a conversation that is told anew, in our words but without our numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Retold {
    /// Who said it; a summary of what came before is nobody's.
    pub role: Role,
    /// The agent's own name for the message that it is a piece of.
    pub message: Option<String>,
    pub at: Option<Timestamp>,
    pub happening: Happening,
}

/// Puts the newest first; those of which the time is not known come last, as the agent has them.
pub fn newest_first(mut found: Vec<Remembered>) -> Vec<Remembered> {
    found.sort_by_key(|it| std::cmp::Reverse(it.updated_at));
    found
}
