//! Connections that only read.
//!
//! Not sqlx's pool: it pings each connection when it is acquired and again when it is released. One
//! into a file of this machine is alive, and each ping costs as much as a small query.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};

#[derive(Debug, Clone)]
pub(super) struct Readers {
    /// Empty once closed.
    slots: Arc<[Mutex<Option<SqliteConnection>>]>,
    /// Spreads the callers that have to wait.
    next: Arc<AtomicUsize>,
}

impl Readers {
    pub async fn open(options: &SqliteConnectOptions, count: usize) -> Result<Self, sqlx::Error> {
        let mut slots = Vec::with_capacity(count);
        for _ in 0..count {
            slots.push(Mutex::new(Some(options.connect().await?)));
        }
        Ok(Self { slots: slots.into(), next: Arc::default() })
    }

    /// Acquires a connection that is free, or waits for one.
    pub async fn acquire(&self) -> Result<MappedMutexGuard<'_, SqliteConnection>, sqlx::Error> {
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
