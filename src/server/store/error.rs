//! What can go wrong between the server and its database.

use std::borrow::Cow;
use std::io::ErrorKind;

use sqlx::migrate::MigrateError;

/// Primary result codes of SQLite; extended codes carry them in their lowest byte.
const SQLITE_BUSY: u32 = 5;
const SQLITE_READONLY: u32 = 8;
const SQLITE_IOERR: u32 = 10;
const SQLITE_FULL: u32 = 13;

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(
        "the data in {0} was written by a newer Throughline; start that version, or point --data-dir elsewhere"
    )]
    Newer(String),
    #[error(
        "the data in {0} was written by an older Throughline; start the server once, which brings it up to date"
    )]
    Older(String),
    #[error("the database could not be brought up to date: {0}")]
    Migrate(#[source] MigrateError),
    #[error("the database did not answer: {0}")]
    Database(#[from] sqlx::Error),
    #[error("the database is closed")]
    Closed,
    #[error("the database's log is not on the disk since a sync of it failed")]
    LogNotSynced,
    #[error("a stored {what} cannot be read: {reason}")]
    Corrupt { what: &'static str, reason: String },
}

impl StoreError {
    /// Tells whether the disk has no space left.
    pub fn is_full(&self) -> bool {
        self.code() == Some(SQLITE_FULL) || self.io_kind() == Some(ErrorKind::StorageFull)
    }

    /// Tells whether the disk refuses to be written to.
    pub fn is_read_only(&self) -> bool {
        self.code() == Some(SQLITE_READONLY)
            || self.io_kind() == Some(ErrorKind::ReadOnlyFilesystem)
    }

    /// Tells whether the disk reported an error.
    pub fn is_disk_error(&self) -> bool {
        self.code() == Some(SQLITE_IOERR)
            || self.io_kind().is_some()
            || matches!(self, Self::LogNotSynced)
    }

    /// Tells whether the same write may succeed in a moment: another connection holds the lock, or
    /// this one is gone and is opened again.
    pub fn is_transient(&self) -> bool {
        self.code() == Some(SQLITE_BUSY)
            || matches!(self, Self::Database(sqlx::Error::WorkerCrashed))
    }

    fn code(&self) -> Option<u32> {
        let Self::Database(sqlx::Error::Database(error)) = self else { return None };
        let code: Cow<'_, str> = error.code()?;
        code.parse::<u32>().ok().map(|code| code & 0xff)
    }

    fn io_kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Database(sqlx::Error::Io(error)) => Some(error.kind()),
            _ => None,
        }
    }
}
