//! The seam at which a test makes the database fail.

/// A step of the store that can fail by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreStep {
    Begin,
    Statement,
    Commit,
    /// After COMMIT took effect and before anybody knows.
    Committed,
    /// The sync of the write-ahead log.
    SyncLog,
    /// The checkpoint that makes up for a failed sync.
    Checkpoint,
}

/// Asked before every step; an error fails the step as if SQLite had reported it.
pub trait StoreFaults: Send + Sync + 'static {
    fn before(&self, step: StoreStep) -> Result<(), sqlx::Error>;
}

/// The real database, which fails without help.
pub struct NoFaults;

impl StoreFaults for NoFaults {
    fn before(&self, _: StoreStep) -> Result<(), sqlx::Error> {
        Ok(())
    }
}
