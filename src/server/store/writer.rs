//! The one connection that writes, and the order in which those who want it are let in.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard, Notify};

use super::fold::Folder;

/// How long prompts may go first, so that everybody else gets a turn under any load.
const PATIENCE: Duration = Duration::from_millis(5);

#[derive(Debug, Clone)]
pub(super) struct Writer {
    /// Empty once closed.
    connection: Arc<Mutex<Option<SqliteConnection>>>,
    /// All wait here but those who store prompts, who therefore wait for one write at the most.
    queue: Arc<Mutex<()>>,
    coming: Arc<Coming>,
    folder: Folder,
}

/// The connection, lent to one of those who queue.
pub(super) struct Lent<'a> {
    connection: MappedMutexGuard<'a, SqliteConnection>,
    _place: MutexGuard<'a, ()>,
}

/// Prompts whose senders wait for the acknowledgement.
#[derive(Debug, Default)]
struct Coming {
    count: AtomicUsize,
    gone: Notify,
}

/// Lets a prompt go before other writes, as long as this is kept and patience lasts.
#[derive(Debug)]
pub struct Precedence(Arc<Coming>);

impl Writer {
    pub async fn open(options: &SqliteConnectOptions) -> Result<Self, sqlx::Error> {
        let connection = Arc::new(Mutex::new(Some(options.connect().await?)));
        let file = options.get_filename().to_owned();
        let folder = Folder::open(file, connection.clone()).map_err(sqlx::Error::Io)?;
        Ok(Self { connection, queue: Arc::default(), coming: Arc::default(), folder })
    }

    /// Lends the connection when it is free. Whoever drops what it does half-way only loses the
    /// result: the connection itself ends or takes back what was begun.
    pub async fn lend(&self) -> Result<Lent<'_>, sqlx::Error> {
        let place = self.queue.lock().await;
        self.let_prompts_pass().await;
        let connection = self.open_one(self.connection.lock().await)?;
        Ok(Lent { connection, _place: place })
    }

    /// Lends the connection to a thread that stores prompts, before all who queue.
    pub fn lend_first(&self) -> Result<MappedMutexGuard<'_, SqliteConnection>, sqlx::Error> {
        self.open_one(self.connection.blocking_lock())
    }

    /// Waits while senders wait for their acknowledgements, but not for long.
    pub async fn let_prompts_pass(&self) {
        if self.coming.is_any() {
            let _ = tokio::time::timeout(PATIENCE, self.coming.until_none()).await;
        }
    }

    pub fn expect_prompt(&self) -> Precedence {
        self.coming.count.fetch_add(1, Ordering::AcqRel);
        Precedence(self.coming.clone())
    }

    /// Closes the connection once nobody uses it.
    pub async fn close(&self) {
        self.folder.close().await;
        if let Some(connection) = self.connection.lock().await.take()
            && let Err(error) = connection.close().await
        {
            tracing::warn!(%error, "the connection that writes did not close well");
        }
    }

    fn open_one<'a>(
        &self,
        connection: MutexGuard<'a, Option<SqliteConnection>>,
    ) -> Result<MappedMutexGuard<'a, SqliteConnection>, sqlx::Error> {
        self.folder.count_write();
        MutexGuard::try_map(connection, Option::as_mut).map_err(|_| sqlx::Error::PoolClosed)
    }
}

impl Coming {
    fn is_any(&self) -> bool {
        self.count.load(Ordering::Acquire) > 0
    }

    async fn until_none(&self) {
        loop {
            // Listens before it looks, so that no change falls between the two.
            let gone = self.gone.notified();
            if !self.is_any() {
                return;
            }
            gone.await;
        }
    }
}

impl Drop for Precedence {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.gone.notify_waiters();
        }
    }
}

impl Deref for Lent<'_> {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.connection
    }
}

impl DerefMut for Lent<'_> {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }
}
