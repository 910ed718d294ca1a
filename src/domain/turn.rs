//! The life of one turn, from Send to its end.
//!
//! `submitted → worker_started → assistant_started → completed`, and each of the first three
//! `→ interrupted`. A turn's state is the last step that fitted, so one word names both.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Names what happened to a turn, and the state that it is in from then on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// The person pressed Send and their words are safe.
    Submitted,
    WorkerStarted,
    /// The first of the answer is stored.
    AssistantStarted,
    Completed,
    /// The turn ended without a whole answer.
    Interrupted,
}

impl Step {
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Interrupted)
    }

    /// Gives the word that the journal uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Submitted => "submitted",
            Self::WorkerStarted => "worker_started",
            Self::AssistantStarted => "assistant_started",
            Self::Completed => "completed",
            Self::Interrupted => "interrupted",
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Says which step did not fit, and the state that it left as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IllegalTransition {
    /// `None` for a turn of which nothing was known.
    pub state: Option<Step>,
    pub event: Step,
}

impl fmt::Display for IllegalTransition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let event = self.event;
        match self.state {
            None => write!(formatter, "{event} came for a turn that was never submitted"),
            Some(state) => write!(formatter, "{event} cannot follow {state}"),
        }
    }
}

impl std::error::Error for IllegalTransition {}

/// Takes a turn one step further, or says why it stays where it is.
pub fn advance(state: Option<Step>, event: Step) -> Result<Step, IllegalTransition> {
    use Step::{AssistantStarted, Completed, Interrupted, Submitted, WorkerStarted};
    match (state, event) {
        (None, Submitted)
        | (Some(Submitted), WorkerStarted)
        | (Some(WorkerStarted), AssistantStarted)
        | (Some(AssistantStarted), Completed)
        | (Some(Submitted | WorkerStarted | AssistantStarted), Interrupted) => Ok(event),
        _ => Err(IllegalTransition { state, event }),
    }
}
