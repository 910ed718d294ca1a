//! Connections whose statements run on the thread that asks.
//!
//! sqlx runs SQLite on threads of its own, and the way there and back costs several times what a
//! small statement does. What a person waits for until their words are safe, and what an agent's
//! every step writes, goes this way instead. The pages it touches are in memory and nothing here
//! waits for the disk.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use super::writer::Writer;
use super::{Store, StoreError};
use crate::server::lock::lock;

/// How many prepared statements each connection keeps.
const STATEMENTS: usize = 64;

#[derive(Debug, Clone)]
pub(super) struct Direct {
    /// Empty once closed, as is the other.
    writer: Arc<Mutex<Option<Connection>>>,
    reader: Arc<Mutex<Option<Connection>>>,
}

impl Direct {
    /// Opens a database that exists and is up to date.
    pub fn open(file: &Path) -> Result<Self, StoreError> {
        let open = |flags| {
            let connection = Connection::open_with_flags(file, flags)?;
            connection.busy_timeout(Duration::from_secs(5))?;
            connection.pragma_update(None, "synchronous", "NORMAL")?;
            connection.pragma_update(None, "foreign_keys", true)?;
            // Folding the log into the file waits for the disk, and has a thread of its own.
            connection.pragma_update(None, "wal_autocheckpoint", 0)?;
            connection.set_prepared_statement_cache_capacity(STATEMENTS);
            Ok::<_, StoreError>(Arc::new(Mutex::new(Some(connection))))
        };
        let writer = open(OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        let reader = open(OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        Ok(Self { writer, reader })
    }

    pub fn close(&self) {
        lock(&self.reader).take();
        lock(&self.writer).take();
    }

    fn transact<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut writer = lock(&self.writer);
        let connection = writer.as_mut().ok_or(sqlx::Error::PoolClosed)?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }
}

/// Writes in one transaction from a thread that may wait, before all others, all or nothing.
pub(super) fn transact_first<T>(
    writer: &Writer,
    direct: &Direct,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let _alone = writer.lend_first()?;
    direct.transact(work)
}

impl Store {
    /// Writes in one transaction, all or nothing.
    pub(super) async fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // One writer at a time, whichever way it comes: SQLite itself would let the other wait by
        // falling asleep for whole milliseconds.
        let _alone = self.writer.lend().await?;
        self.direct.transact(work)
    }

    /// Reads a few rows over the connection that writes, if that is free: after every write, all
    /// others have to fetch from the file what this one still has.
    pub(super) fn read_warm<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match self.direct.writer.try_lock() {
            Ok(writer) => work(writer.as_ref().ok_or(sqlx::Error::PoolClosed)?),
            Err(_) => self.read(work),
        }
    }

    /// Reads a few rows at once.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let reader = lock(&self.direct.reader);
        work(reader.as_ref().ok_or(sqlx::Error::PoolClosed)?)
    }
}

/// Tells whether a statement failed for want of room.
pub(super) fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

/// Tells whether a statement failed because the disk refuses to be written to.
pub(super) fn is_read_only(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ReadOnly)
}
