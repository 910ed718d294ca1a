//! Folds the write-ahead log into the database on a thread of its own. It waits for the disk, and
//! nobody who writes has to wait with it.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::{io, thread};

use rusqlite::{Connection, OpenFlags, Row};
use tokio::sync::{Mutex, oneshot};

/// After how many writes the log is folded; it has a few megabytes then.
const WRITES: usize = 500;

/// From this many pages on, the end of the log is folded while those who write wait: one that is
/// written to without a pause is never folded to its end otherwise, and grows for ever.
const MOST_PAGES: i64 = 8192;

enum Errand {
    Fold,
    End(oneshot::Sender<()>),
}

#[derive(Debug, Clone)]
pub(super) struct Folder {
    errands: mpsc::Sender<Errand>,
    writes: Arc<AtomicUsize>,
}

impl Folder {
    /// Starts the thread; who has the lock is alone with the database.
    pub fn open<T: Send + 'static>(file: PathBuf, alone: Arc<Mutex<T>>) -> io::Result<Self> {
        let (sender, errands) = mpsc::channel();
        let work = move || {
            while let Ok(errand) = errands.recv() {
                match errand {
                    Errand::Fold => {
                        if let Err(error) = fold(&file, &alone) {
                            tracing::warn!(%error, "the database's log could not be folded");
                        }
                    }
                    Errand::End(ended) => {
                        let _ = ended.send(());
                        return;
                    }
                }
            }
        };
        thread::Builder::new().name("fold".to_owned()).spawn(work)?;
        Ok(Self { errands: sender, writes: Arc::default() })
    }

    /// Counts a write, and folds the log when there were enough of them.
    pub fn count_write(&self) {
        if (self.writes.fetch_add(1, Ordering::Relaxed) + 1).is_multiple_of(WRITES) {
            // The thread is gone once the store is closed.
            let _ = self.errands.send(Errand::Fold);
        }
    }

    /// Waits until nothing is folded any more.
    pub async fn close(&self) {
        let (ended, end) = oneshot::channel();
        if self.errands.send(Errand::End(ended)).is_ok() {
            let _ = end.await;
        }
    }
}

fn fold<T>(file: &Path, alone: &Mutex<T>) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    let fold = || {
        let pages = |row: &Row<'_>| row.get::<_, i64>("log");
        connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], pages)
    };
    if fold()? > MOST_PAGES {
        // Most is done by now, so the wait is short.
        let _alone = alone.blocking_lock();
        fold()?;
    }
    Ok(())
}
