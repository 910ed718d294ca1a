//! The one mapping from what went wrong to what a caller is told.
//!
//! `StoreError` and `SessionError` say what happened inside; services return `ServiceError`; every
//! door turns that into a `Failure` with a status. Causes are logged here and never sent.

use std::io::ErrorKind;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tokio::task::JoinError;

use super::journal::JournalError;
use super::sessions::SessionError;
use super::store::StoreError;
use super::turns::recovery::RecoveryError;
use crate::domain::ids::SessionId;
use crate::wire::error::{ErrorReply, Failure, FailureCode};

const DISK_FULL: &str = "The server's disk is full. Nothing was stored; make room and send again.";
const DISK_READ_ONLY: &str =
    "The server's disk cannot be written to. Nothing was stored; send again once it can.";
const DISK_FAILED: &str =
    "The server's disk reported an error. Nothing was stored; send again in a moment.";

const DATABASE_BUSY: &str =
    "The server's database did not answer. Nothing was stored; send again in a moment.";

/// Why a service did not do what it was asked.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{}", .0.message)]
pub struct ServiceError(pub Failure);

impl ServiceError {
    pub fn refused(code: FailureCode, message: impl Into<String>) -> Self {
        Self(Failure::new(code, message))
    }

    pub fn no_session() -> Self {
        Self::refused(FailureCode::SessionNotFound, "There is no such conversation.")
    }

    /// Says that the row is the record of an earlier part, and where the conversation goes on.
    pub fn wrong_target(canonical: Option<SessionId>) -> Self {
        let message = "This is an earlier part of the conversation; it goes on elsewhere.";
        let mut failure = Failure::new(FailureCode::WrongTarget, message);
        failure.canonical_visible_session_id = canonical;
        Self(failure)
    }

    pub fn status(&self) -> StatusCode {
        match self.0.code {
            FailureCode::InvalidRequest => StatusCode::UNPROCESSABLE_ENTITY,
            FailureCode::InvalidId => StatusCode::BAD_REQUEST,
            FailureCode::NotFound | FailureCode::SessionNotFound => StatusCode::NOT_FOUND,
            FailureCode::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            FailureCode::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            FailureCode::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            FailureCode::ForbiddenOrigin => StatusCode::FORBIDDEN,
            FailureCode::SignedOut => StatusCode::UNAUTHORIZED,
            FailureCode::TooManyAttempts => StatusCode::TOO_MANY_REQUESTS,
            FailureCode::WrongTarget
            | FailureCode::TurnConflict
            | FailureCode::QuestionClosed
            | FailureCode::NothingRuns => StatusCode::CONFLICT,
            FailureCode::UnknownAgent => StatusCode::UNPROCESSABLE_ENTITY,
            FailureCode::DiskFull => StatusCode::INSUFFICIENT_STORAGE,
            FailureCode::AgentUnavailable | FailureCode::Unavailable | FailureCode::DiskFailed => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            FailureCode::Internal | FailureCode::Network => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    /// Tells a page or a function of the app, and gives the response the matching status.
    pub fn tell(self) -> Failure {
        if let Some(response) = leptos::context::use_context::<leptos_axum::ResponseOptions>() {
            response.set_status(self.status());
        }
        self.0
    }

    fn disk_full(error: &dyn std::error::Error) -> Self {
        tracing::error!(%error, "the disk is full");
        Self::refused(FailureCode::DiskFull, DISK_FULL)
    }

    fn disk_read_only(error: &dyn std::error::Error) -> Self {
        tracing::error!(%error, "the disk cannot be written to");
        Self::refused(FailureCode::DiskFailed, DISK_READ_ONLY)
    }

    fn internal(error: &dyn std::error::Error) -> Self {
        tracing::error!(%error, "a request failed");
        Self::refused(FailureCode::Internal, "Something went wrong on the server.")
    }
}

impl From<StoreError> for ServiceError {
    fn from(error: StoreError) -> Self {
        match error {
            error if error.is_full() => Self::disk_full(&error),
            error if error.is_read_only() => Self::disk_read_only(&error),
            error if error.is_disk_error() => {
                tracing::error!(%error, "the disk reported an error");
                Self::refused(FailureCode::DiskFailed, DISK_FAILED)
            }
            error if error.is_transient() => {
                tracing::error!(%error, "the database did not answer");
                Self::refused(FailureCode::Unavailable, DATABASE_BUSY)
            }
            error => Self::internal(&error),
        }
    }
}

impl From<JournalError> for ServiceError {
    fn from(error: JournalError) -> Self {
        tracing::error!(%error, cause = ?std::error::Error::source(&error), "the journal refused");
        match error.cause() {
            JournalError::Full(_) => Self::refused(FailureCode::DiskFull, DISK_FULL),
            JournalError::ReadOnly(_) => Self::refused(FailureCode::DiskFailed, DISK_READ_ONLY),
            JournalError::Unwritable(_) => {
                Self::refused(FailureCode::InvalidRequest, error.to_string())
            }
            JournalError::Unsound(_) => Self::refused(FailureCode::Unavailable, error.to_string()),
            JournalError::Io(_) | JournalError::NeedsRepair(_) => {
                Self::refused(FailureCode::DiskFailed, DISK_FAILED)
            }
        }
    }
}

impl From<RecoveryError> for ServiceError {
    fn from(error: RecoveryError) -> Self {
        match error {
            RecoveryError::Store(error) => error.into(),
            RecoveryError::Journal(error) => error.into(),
        }
    }
}

impl From<JoinError> for ServiceError {
    fn from(error: JoinError) -> Self {
        Self::internal(&error)
    }
}

impl From<std::io::Error> for ServiceError {
    fn from(error: std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Self::disk_full(&error),
            ErrorKind::ReadOnlyFilesystem => Self::disk_read_only(&error),
            _ => Self::internal(&error),
        }
    }
}

impl From<SessionError> for ServiceError {
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::NotFound => Self::no_session(),
            SessionError::UnknownAgent(_) => {
                Self::refused(FailureCode::UnknownAgent, format!("Sorry, {error}."))
            }
            SessionError::TaskFailed => {
                let message = "This conversation stopped because of a fault in the server. Your \
                               next message starts it again.";
                Self::refused(FailureCode::Internal, message)
            }
            SessionError::ShuttingDown => {
                Self::refused(FailureCode::Unavailable, "The server is shutting down.")
            }
            SessionError::Store(error) => error.into(),
        }
    }
}

impl From<Failure> for ServiceError {
    fn from(failure: Failure) -> Self {
        Self(failure)
    }
}

impl IntoResponse for ServiceError {
    fn into_response(self) -> Response {
        (self.status(), Json(ErrorReply { error: self.0 })).into_response()
    }
}
