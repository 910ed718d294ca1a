//! The only module with SQL in it: sessions and messages in SQLite.
//!
//! Every query goes through an index, so its cost follows the page asked for. Statements keep to
//! what PostgreSQL also understands.

mod branches;
mod checkpoint;
mod devices;
mod error;
pub mod faults;
mod find;
mod import;
mod lineage;
mod list;
mod marks;
mod messages;
mod prompts;
mod rank;
mod readers;
mod rows;
mod schema;
mod search;
mod sessions;
mod submit;
mod writer;

use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteRow, SqliteSynchronous};
use tokio_util::task::AbortOnDropHandle;

use checkpoint::WriteAheadLog;
use faults::{NoFaults, StoreFaults};
use readers::Readers;
use writer::{Statement, WriteOutcome, WriteTransaction, Writer};

pub use devices::Device;
pub use error::StoreError;
pub use find::Found;
pub use list::ListCursor;
pub use messages::{MessagePage, StoredPrompt};
pub use submit::{NewPrompt, PromptInsert, SubmitTarget};

/// The statements whose cost must follow the page asked for, however much is stored, and the index
/// that each must go by.
pub const PAGE_STATEMENTS: &[(&str, &str)] = &[
    (list::LEAVES, "INDEX sessions_leaves"),
    (list::FORK_POINTS, "INDEX sessions_fork_points"),
    (list::VISIBLE, "INDEX sessions_visible_by_activity"),
    (list::ARCHIVED, "INDEX sessions_visible_by_activity"),
    (list::ALL, "INDEX sessions_by_activity"),
    (list::TOPS, "INDEX sessions_tops"),
    (list::PINNED, "INDEX sessions_pinned"),
    (branches::CHILDREN, "INDEX sessions_by_parent"),
    (branches::BELOW, "INDEX sessions_by_parent"),
    (find::NEWEST_TITLES, "search_titles VIRTUAL TABLE INDEX"),
    (find::NEWEST_MESSAGES, "search VIRTUAL TABLE INDEX"),
    (find::TITLES, "entry VIRTUAL TABLE INDEX"),
    (find::MESSAGES, "entry VIRTUAL TABLE INDEX"),
    (find::TITLE_HITS, "search_titles VIRTUAL TABLE INDEX"),
    (find::MESSAGE_HITS, "search VIRTUAL TABLE INDEX"),
];

/// How many can read side by side.
const READERS: usize = 4;

/// How long a statement waits for another connection's lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Sessions and messages on disk. One connection writes, several read.
#[derive(Clone)]
pub struct Store {
    writer: Writer,
    readers: Readers,
    log: WriteAheadLog,
    checkpointer: Option<Arc<AbortOnDropHandle<()>>>,
}

impl Store {
    /// Opens the database of a data directory and brings it up to date.
    pub async fn open(data_dir: &Path) -> Result<Self, StoreError> {
        Self::open_with(data_dir, Arc::new(NoFaults)).await
    }

    /// Does the same with a database that fails when a test wants it to.
    pub async fn open_with(
        data_dir: &Path,
        faults: Arc<dyn StoreFaults>,
    ) -> Result<Self, StoreError> {
        let options =
            connect_options(data_dir).create_if_missing(true).journal_mode(SqliteJournalMode::Wal);
        schema::migrate(&options).await?;
        let writer = Writer::open(&options, faults.clone()).await?;
        let mut store = Self::assemble(data_dir, options, writer, READERS, faults).await?;
        store.checkpointer = Some(Arc::new(store.log.spawn_checkpointer()));
        store.mark_cycles().await?;
        store.flush_wal().await?;
        sync_dir(data_dir.to_owned()).await?;
        Ok(store)
    }

    /// Opens the database of a data directory that a server may be using, without changing anything
    /// in it. Only the schema of this version is understood.
    pub async fn open_read_only(data_dir: &Path) -> Result<Self, StoreError> {
        // Without a log nobody has the database open. SQLite would create one just to read, unless
        // it may take the file for one that cannot change.
        let is_at_rest = !log_file(data_dir).exists();
        let options = connect_options(data_dir).read_only(true).immutable(is_at_rest);
        schema::check(&options).await?;
        let faults = Arc::new(NoFaults);
        let writer = Writer::closed(&options, faults.clone());
        Self::assemble(data_dir, options, writer, 1, faults).await
    }

    /// Opens the database of a data directory that a server may be using, to write single rows of
    /// it. The schema is checked and not migrated.
    pub async fn open_beside_server(data_dir: &Path) -> Result<Self, StoreError> {
        let options = connect_options(data_dir);
        schema::check(&options).await?;
        let faults = Arc::new(NoFaults);
        let writer = Writer::open(&options, faults.clone()).await?;
        Self::assemble(data_dir, options, writer, 1, faults).await
    }

    async fn assemble(
        data_dir: &Path,
        options: SqliteConnectOptions,
        writer: Writer,
        readers: usize,
        faults: Arc<dyn StoreFaults>,
    ) -> Result<Self, StoreError> {
        let readers = Readers::open(&options.clone().read_only(true), readers).await?;
        let log = WriteAheadLog::new(log_file(data_dir), options, writer.clone(), faults);
        Ok(Self { writer, readers, log, checkpointer: None })
    }

    /// Returns once everything written so far survives a power loss. After a failure nothing does
    /// until a checkpoint has succeeded.
    pub async fn flush_wal(&self) -> Result<(), StoreError> {
        self.log.flush().await
    }

    /// Runs one write transaction, all or nothing, that a dropped caller does not abandon.
    async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t mut WriteTransaction) -> BoxFuture<'t, Result<T, StoreError>>
            + Send
            + 'static,
    {
        let done = self.writer.write(work).await;
        self.log.count_write();
        done
    }

    /// Executes one statement, which is a transaction of its own.
    async fn execute(&self, statement: Statement) -> Result<WriteOutcome, StoreError> {
        self.log.count_write();
        self.writer.write_one(statement).await
    }

    async fn read_all(&self, statement: Statement) -> Result<Vec<SqliteRow>, StoreError> {
        Ok(statement.fetch_all(&mut *self.readers.acquire().await?).await?)
    }

    async fn read_optional(&self, statement: Statement) -> Result<Option<SqliteRow>, StoreError> {
        Ok(statement.fetch_optional(&mut *self.readers.acquire().await?).await?)
    }

    /// Closes all connections; the last one copies the log into the database.
    pub async fn close(&self) {
        if let Some(checkpointer) = &self.checkpointer {
            checkpointer.abort();
        }
        self.readers.close().await;
        self.writer.close().await;
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Store").finish_non_exhaustive()
    }
}

fn connect_options(data_dir: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(data_dir.join("throughline.db"))
        // What must survive a power cut is in the journal, or waits for `flush_wal`.
        .synchronous(SqliteSynchronous::Normal)
        .foreign_keys(true)
        .pragma("wal_autocheckpoint", "0")
        .busy_timeout(BUSY_TIMEOUT)
}

/// Names SQLite's write-ahead log.
fn log_file(data_dir: &Path) -> PathBuf {
    data_dir.join("throughline.db-wal")
}

/// Makes the names of new files survive a power loss.
async fn sync_dir(dir: PathBuf) -> Result<(), StoreError> {
    blocking(move || File::open(dir)?.sync_all()).await
}

async fn blocking(
    work: impl FnOnce() -> io::Result<()> + Send + 'static,
) -> Result<(), StoreError> {
    let done = tokio::task::spawn_blocking(work).await.map_err(io::Error::other);
    Ok(done.and_then(|done| done).map_err(sqlx::Error::Io)?)
}
