//! SQLite's write-ahead log: synced where a write must survive a power loss, and copied into the
//! database ("checkpointed") over a connection of its own, so that no writer waits for the disk.

use std::fs::File;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, query_as};
use tokio::sync::Notify;
use tokio_util::task::AbortOnDropHandle;

use super::faults::{StoreFaults, StoreStep};
use super::writer::Writer;
use super::{StoreError, blocking};

/// After how many writes the log is checkpointed; it has a few megabytes then.
const CHECKPOINT_INTERVAL: usize = 500;

/// Past this many pages (32 MB) the log is truncated while writers wait: one that is written to
/// without a pause is never checkpointed to its end otherwise, and grows for ever.
const MAX_LOG_PAGES: i64 = 8192;

/// How long a checkpoint that truncates waits for readers.
const READERS_TIMEOUT: Duration = Duration::from_millis(200);

/// Clones share the log and its connection.
#[derive(Clone)]
pub(super) struct WriteAheadLog {
    file: PathBuf,
    options: SqliteConnectOptions,
    writer: Writer,
    faults: Arc<dyn StoreFaults>,
    writes: Arc<AtomicUsize>,
    checkpoint_due: Arc<Notify>,
    /// A sync failed. The kernel may have dropped the bytes and says nothing of it the next time,
    /// so nothing in the log counts as synced before a checkpoint has copied all of it.
    sync_failed: Arc<AtomicBool>,
}

/// Copies what no reader needs any more, and lets writers go on.
const PASSIVE: &str = "PRAGMA wal_checkpoint(PASSIVE)";
/// Copies everything and empties the log.
const TRUNCATE: &str = "PRAGMA wal_checkpoint(TRUNCATE)";

impl WriteAheadLog {
    pub fn new(
        file: PathBuf,
        options: SqliteConnectOptions,
        writer: Writer,
        faults: Arc<dyn StoreFaults>,
    ) -> Self {
        Self {
            file,
            options: options.busy_timeout(READERS_TIMEOUT),
            writer,
            faults,
            writes: Arc::default(),
            checkpoint_due: Arc::default(),
            sync_failed: Arc::default(),
        }
    }

    /// Spawns the task that checkpoints the log as it grows.
    pub fn spawn_checkpointer(&self) -> AbortOnDropHandle<()> {
        let log = self.clone();
        AbortOnDropHandle::new(tokio::spawn(async move {
            loop {
                log.checkpoint_due.notified().await;
                if let Err(error) = log.checkpoint().await {
                    tracing::warn!(%error, "the database's log could not be checkpointed");
                }
            }
        }))
    }

    /// Counts a write, and wakes the checkpointer when there were enough of them.
    pub fn count_write(&self) {
        if (self.writes.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(CHECKPOINT_INTERVAL) {
            self.checkpoint_due.notify_one();
        }
    }

    /// Returns once everything committed so far survives a power loss, as SQLite itself would wait
    /// after each commit with `synchronous=FULL`.
    pub async fn flush(&self) -> Result<(), StoreError> {
        if self.sync_failed.load(Ordering::Acquire) {
            self.truncate().await?;
        }
        let synced = match self.faults.before(StoreStep::SyncLog) {
            Ok(()) => self.sync().await,
            Err(error) => Err(error.into()),
        };
        if synced.is_err() {
            self.sync_failed.store(true, Ordering::Release);
        }
        synced
    }

    async fn sync(&self) -> Result<(), StoreError> {
        let file = self.file.clone();
        blocking(move || match File::open(file) {
            Ok(log) => log.sync_data(),
            // Without a log, everything is in the database file and was synced on the way there.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        })
        .await
    }

    async fn checkpoint(&self) -> Result<(), StoreError> {
        match self.run(PASSIVE).await {
            Ok((_, log_pages)) if log_pages > MAX_LOG_PAGES => self.truncate().await,
            Ok(_) => Ok(()),
            Err(error) => {
                // SQLite may have taken notice of a failed sync that nobody else will see.
                self.sync_failed.store(true, Ordering::Release);
                Err(error)
            }
        }
    }

    /// Copies the whole log into the database and empties it, while writers wait.
    async fn truncate(&self) -> Result<(), StoreError> {
        let _writer = self.writer.lock().await;
        self.faults.before(StoreStep::Checkpoint)?;
        let (is_busy, _) = self.run(TRUNCATE).await?;
        if !is_busy {
            self.sync_failed.store(false, Ordering::Release);
        } else if self.sync_failed.load(Ordering::Acquire) {
            return Err(StoreError::LogNotSynced);
        }
        Ok(())
    }

    /// Runs a checkpoint; returns whether readers kept it from its end, and the pages of the log.
    async fn run(&self, statement: &'static str) -> Result<(bool, i64), StoreError> {
        let mut connection = self.options.connect().await?;
        let (is_busy, log_pages, _): (bool, i64, i64) =
            query_as(statement).fetch_one(&mut connection).await?;
        connection.close().await?;
        Ok((is_busy, log_pages))
    }
}
