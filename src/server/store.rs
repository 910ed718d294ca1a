//! The only room with SQL in it: sessions and messages in SQLite.
//!
//! Every query goes through an index, so its cost follows the page asked for. Statements keep to
//! what PostgreSQL also understands.

mod lineage;
mod marks;
mod messages;
mod rows;
mod search;
mod sessions;

use std::path::Path;
use std::time::Duration;

use sqlx::migrate::MigrateError;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

pub use messages::MessagePage;
pub use search::Found;
pub use sessions::{ListCursor, ListView};

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("src/server/store/migrations");

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
    #[error("a stored {what} cannot be read: {reason}")]
    Corrupt { what: &'static str, reason: String },
}

/// Sessions and messages on disk. One connection writes, several read.
#[derive(Debug, Clone)]
pub struct Store {
    writer: SqlitePool,
    readers: SqlitePool,
}

impl Store {
    /// Opens the database of a data directory and brings it up to date.
    pub async fn open(data_dir: &Path) -> Result<Self, StoreError> {
        let file = data_dir.join("throughline.db");
        let options = SqliteConnectOptions::new()
            .filename(&file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            // A turn that was acknowledged must survive a power cut.
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(5));
        let writer =
            SqlitePoolOptions::new().max_connections(1).connect_with(options.clone()).await?;
        MIGRATIONS.run(&writer).await.map_err(|error| match error {
            MigrateError::VersionMissing(_) | MigrateError::VersionTooNew(..) => {
                StoreError::Newer(file.display().to_string())
            }
            other => StoreError::Migrate(other),
        })?;
        let readers = SqlitePoolOptions::new()
            .max_connections(4)
            .connect_with(options.read_only(true))
            .await?;
        Ok(Self { writer, readers })
    }

    /// Folds the write-ahead log into the file and closes all connections.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}
