//! Why a session cannot be reached.

use crate::server::store::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    #[error("no such session")]
    NotFound,
    #[error("the agent {0} is not known here")]
    UnknownAgent(String),
    #[error("the session's task panicked")]
    TaskFailed,
    #[error("the server is shutting down")]
    ShuttingDown,
    #[error(transparent)]
    Store(#[from] StoreError),
}
