//! Connections that stay open and are lent out one at a time.
//!
//! A pool asks each connection whether it still lives, when it is lent and again when it comes
//! back. One into a file of this machine does, and each question costs as much as a small query.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};

#[derive(Debug, Clone)]
pub(super) struct Connections {
    /// Empty once closed.
    slots: Arc<[Mutex<Option<SqliteConnection>>]>,
    /// Spreads those who have to wait.
    next: Arc<AtomicUsize>,
}

impl Connections {
    pub async fn open(options: &SqliteConnectOptions, count: usize) -> Result<Self, sqlx::Error> {
        let mut slots = Vec::with_capacity(count);
        for _ in 0..count {
            slots.push(Mutex::new(Some(options.connect().await?)));
        }
        Ok(Self { slots: slots.into(), next: Arc::default() })
    }

    /// Lends a connection that is free, or waits for one. Whoever drops what it does half-way only
    /// loses the result: the connection itself ends or takes back what was begun.
    pub async fn lend(&self) -> Result<MappedMutexGuard<'_, SqliteConnection>, sqlx::Error> {
        let free = self.slots.iter().find_map(|slot| slot.try_lock().ok());
        let slot = match free {
            Some(free) => free,
            None => {
                let next = self.next.fetch_add(1, Ordering::Relaxed) % self.slots.len();
                self.slots[next].lock().await
            }
        };
        MutexGuard::try_map(slot, Option::as_mut).map_err(|_| sqlx::Error::PoolClosed)
    }

    /// Closes all connections, each once nobody uses it.
    pub async fn close(&self) {
        for slot in self.slots.iter() {
            if let Some(connection) = slot.lock().await.take()
                && let Err(error) = connection.close().await
            {
                tracing::warn!(%error, "a connection to the database did not close well");
            }
        }
    }
}
