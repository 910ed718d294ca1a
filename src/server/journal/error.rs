//! Why the journal did not do what it was asked, in words for the person who waits.

use std::io;

use crate::wire::journal::Malformed;

#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    #[error("The disk is full.")]
    Full(#[source] io::Error),
    #[error("The disk can be read but not written to.")]
    ReadOnly(#[source] io::Error),
    #[error("The disk reported an error.")]
    Io(#[source] io::Error),
    /// An earlier write failed and what it left behind could not be repaired yet.
    #[error("This conversation's journal is closed since a write to it failed. {0}")]
    NeedsRepair(#[source] Box<JournalError>),
    /// The record could not be read back, so it is not written at all.
    #[error("This cannot be kept in the journal: {0}.")]
    Unwritable(#[from] Malformed),
    /// A file that is not understood in full is not rewritten.
    #[error("This conversation's journal has problems ({0}), so nothing was removed from it.")]
    Unsound(usize),
}

impl JournalError {
    /// Returns what made the journal need repair, where it does.
    pub fn cause(&self) -> &Self {
        match self {
            Self::NeedsRepair(cause) => cause.cause(),
            other => other,
        }
    }
}

impl From<io::Error> for JournalError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full(error),
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                Self::ReadOnly(error)
            }
            _ => Self::Io(error),
        }
    }
}
