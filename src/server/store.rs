//! The only room with SQL in it: sessions and messages in SQLite.
//!
//! Every query goes through an index, so its cost follows the page asked for. Statements keep to
//! what PostgreSQL also understands.

mod branches;
mod connections;
mod devices;
mod direct;
mod entry;
mod export;
mod find;
mod fold;
mod import;
mod lineage;
mod list;
mod marks;
mod messages;
mod prompts;
mod questions;
mod rank;
mod rows;
mod search;
mod sessions;
mod writer;

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::migrate::MigrateError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};

use connections::Connections;
use direct::Direct;
use prompts::Desk;
use writer::Writer;

pub use devices::Device;
pub use entry::Standing;
pub use find::Found;
pub use list::ListCursor;
pub use messages::MessagePage;
pub use prompts::{NewPrompt, Stored};
pub use writer::Precedence;

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("src/server/store/migrations");

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

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(
        "the data in {0} was written by a newer Throughline; start that version, or point --data-dir elsewhere"
    )]
    Newer(String),
    #[error("the database could not be brought up to date: {0}")]
    Migrate(#[source] MigrateError),
    #[error("the database did not answer: {0}")]
    Database(#[from] sqlx::Error),
    #[error("the database did not answer: {0}")]
    Direct(#[from] rusqlite::Error),
    #[error("the database is closed")]
    Closed,
    #[error("a stored {what} cannot be read: {reason}")]
    Corrupt { what: &'static str, reason: String },
}

impl StoreError {
    /// Tells whether the disk has no room left.
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Direct(error) if direct::is_full(error))
            || self.code().is_some_and(|code| code == "13")
            || self.io_kind() == Some(ErrorKind::StorageFull)
    }

    /// Tells whether the disk refuses to be written to.
    pub fn is_read_only(&self) -> bool {
        let code = self.code();
        matches!(self, Self::Direct(error) if direct::is_read_only(error))
            || code.is_some_and(|code| code.parse::<u32>().is_ok_and(|code| code & 0xff == 8))
            || self.io_kind() == Some(ErrorKind::ReadOnlyFilesystem)
    }

    fn code(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Database(sqlx::Error::Database(error)) => error.code(),
            _ => None,
        }
    }

    fn io_kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Database(sqlx::Error::Io(error)) => Some(error.kind()),
            _ => None,
        }
    }
}

/// Sessions and messages on disk. One connection writes, several read.
#[derive(Debug, Clone)]
pub struct Store {
    writer: Writer,
    readers: Connections,
    direct: Direct,
    prompts: Desk,
    /// SQLite's write-ahead log.
    wal: PathBuf,
}

impl Store {
    /// Opens the database of a data directory and brings it up to date.
    pub async fn open(data_dir: &Path) -> Result<Self, StoreError> {
        let file = data_dir.join("throughline.db");
        let options = SqliteConnectOptions::new()
            .filename(&file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // What must survive a power cut is in the journal, or waits for `settle`.
            .synchronous(SqliteSynchronous::Normal)
            .foreign_keys(true)
            .pragma("wal_autocheckpoint", "0")
            .busy_timeout(Duration::from_secs(5));
        let writer = Writer::open(&options).await?;
        MIGRATIONS.run(&mut *writer.lend().await?).await.map_err(|error| match error {
            MigrateError::VersionMissing(_) | MigrateError::VersionTooNew(..) => {
                StoreError::Newer(file.display().to_string())
            }
            other => StoreError::Migrate(other),
        })?;
        let readers = Connections::open(&options.read_only(true), READERS).await?;
        let wal = data_dir.join("throughline.db-wal");
        let direct = Direct::open(&file)?;
        let prompts = Desk::open(writer.clone(), direct.clone())?;
        let store = Self { writer, readers, direct, prompts, wal };
        store.mark_cycles().await?;
        store.settle().await?;
        sync_folder(data_dir.to_owned()).await?;
        Ok(store)
    }

    /// Waits until everything written so far is on the disk, as SQLite itself would after each
    /// commit at its strictest setting.
    pub async fn settle(&self) -> Result<(), StoreError> {
        let wal = self.wal.clone();
        blocking(move || match File::open(wal) {
            Ok(log) => log.sync_data(),
            // Without a log, all is in the database file and was synced on the way there.
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        })
        .await
    }

    /// Folds the write-ahead log into the file and closes all connections.
    pub async fn close(&self) {
        self.readers.close().await;
        self.direct.close();
        self.writer.close().await;
    }
}

/// Makes the names of new files outlast a power loss.
async fn sync_folder(folder: PathBuf) -> Result<(), StoreError> {
    blocking(move || File::open(folder)?.sync_all()).await
}

async fn blocking(
    work: impl FnOnce() -> io::Result<()> + Send + 'static,
) -> Result<(), StoreError> {
    let done = tokio::task::spawn_blocking(work).await.map_err(io::Error::other);
    Ok(done.and_then(|done| done).map_err(sqlx::Error::Io)?)
}
