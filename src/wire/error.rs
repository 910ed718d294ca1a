//! The one shape in which every door reports a failure.

use std::fmt;

use leptos::prelude::{FromServerFnError, ServerFnErrorErr};
use serde::{Deserialize, Serialize};

use super::text_json::TextJson;
use crate::domain::ids::SessionId;

/// `{"error": {"code", "message", …}}`
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorReply {
    pub error: Failure,
}

/// What went wrong: a code for programs and a sentence for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub code: FailureCode,
    pub message: String,
    /// Where the request should have gone, with `wrong_target`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canonical_visible_session_id: Option<SessionId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureCode {
    InvalidRequest,
    InvalidId,
    NotFound,
    SessionNotFound,
    MethodNotAllowed,
    UnsupportedMediaType,
    TooLarge,
    ForbiddenOrigin,
    SignedOut,
    TooManyAttempts,
    WrongTarget,
    TurnConflict,
    QuestionClosed,
    NothingRuns,
    UnknownAgent,
    AgentUnavailable,
    Unavailable,
    DiskFull,
    DiskFailed,
    Internal,
    /// The request never reached the server or its answer never came back.
    Network,
}

impl Failure {
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), canonical_visible_session_id: None }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

impl FromServerFnError for Failure {
    type Encoder = TextJson;

    fn from_server_fn_error(error: ServerFnErrorErr) -> Self {
        match error {
            ServerFnErrorErr::Request(_) | ServerFnErrorErr::Response(_) => {
                Self::new(FailureCode::Network, "The server could not be reached.")
            }
            ServerFnErrorErr::Args(_) | ServerFnErrorErr::MissingArg(_) => {
                Self::new(FailureCode::InvalidRequest, "The request was not understood.")
            }
            _ => Self::new(FailureCode::Internal, "Something went wrong on the server."),
        }
    }
}
