//! The data directory: what is kept in it, and whose it is.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::blobs::Blobs;
use super::journal::{DirStorage, Journal, JournalError, Storage};
use super::store::faults::{NoFaults, StoreFaults};
use super::store::{Store, StoreError};
use super::turns::log::TurnLog;

const LOCK_FILE: &str = "throughline.lock";

#[derive(Debug, thiserror::Error)]
pub enum DataError {
    #[error("the data directory {folder} cannot be used: {reason}")]
    Unusable { folder: PathBuf, reason: io::Error },
    #[error(
        "another Throughline uses the data directory {0}; stop it, or point --data-dir elsewhere"
    )]
    InUse(PathBuf),
    #[error("the turn journal in {folder} cannot be used: {reason}")]
    Journal { folder: PathBuf, reason: JournalError },
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Everything that a data directory holds, open.
pub struct Data {
    pub store: Store,
    pub blobs: Blobs,
    pub turn_log: TurnLog,
}

impl Data {
    /// Opens a data directory, and creates it where there is none.
    pub async fn open(folder: &Path) -> Result<Self, DataError> {
        let unusable = |reason| DataError::Unusable { folder: folder.to_owned(), reason };
        make_folder(folder).map_err(unusable)?;
        let journal = DirStorage::open(folder).map_err(unusable)?;
        Self::open_with(folder, Arc::new(journal), Arc::new(NoFaults)).await
    }

    /// Opens a data directory whose journals are on a disk that a test owns, and whose database
    /// fails when the test wants it to.
    pub async fn open_with(
        folder: &Path,
        storage: Arc<dyn Storage>,
        faults: Arc<dyn StoreFaults>,
    ) -> Result<Self, DataError> {
        let unusable = |reason| DataError::Unusable { folder: folder.to_owned(), reason };
        let blobs = Blobs::open(folder).await.map_err(unusable)?;
        let journal = tokio::task::spawn_blocking(|| Journal::open(storage))
            .await
            .map_err(|panicked| unusable(io::Error::other(panicked)))?
            .map_err(|reason| DataError::Journal { folder: folder.to_owned(), reason })?;
        let store = Store::open_with(folder, faults).await?;
        Ok(Self { store, blobs, turn_log: TurnLog::new(journal) })
    }

    /// Opens a data directory that a server may be using, so that nothing in it is changed.
    pub async fn open_read_only(folder: &Path) -> Result<Self, DataError> {
        let unusable = |reason| DataError::Unusable { folder: folder.to_owned(), reason };
        let storage = DirStorage::open_read_only(folder).map_err(unusable)?;
        let journal = Journal::open_unchanged(Arc::new(storage));
        let blobs = Blobs::open_read_only(folder);
        let store = Store::open_read_only(folder).await?;
        Ok(Self { store, blobs, turn_log: TurnLog::new(journal) })
    }
}

/// Makes a folder and lets its name outlast a power loss.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    fs::create_dir_all(folder)?;
    match folder.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        Some(parent) => File::open(parent)?.sync_all(),
        None => Ok(()),
    }
}

/// Says that a data directory is this process's own, for as long as it is held.
#[derive(Debug)]
pub struct DataLock {
    file: File,
}

/// A process that is being started has every open file until it executes its program, and would keep
/// the lock for that long if the file were only closed.
impl Drop for DataLock {
    fn drop(&mut self) {
        if let Err(error) = self.file.unlock() {
            tracing::warn!(%error, "the data directory's lock could not be released");
        }
    }
}

impl DataLock {
    /// Tells whether a server uses the data directory, and changes nothing in it.
    pub fn is_held(folder: &Path) -> io::Result<bool> {
        let file = match File::open(folder.join(LOCK_FILE)) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        match file.try_lock_shared() {
            Ok(()) => Ok(false),
            Err(TryLockError::WouldBlock) => Ok(true),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    pub fn take(folder: &Path) -> Result<Self, DataError> {
        let unusable = |reason| DataError::Unusable { folder: folder.to_owned(), reason };
        make_folder(folder).map_err(unusable)?;
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(folder.join(LOCK_FILE))
            .map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => Err(DataError::InUse(folder.to_owned())),
            Err(TryLockError::Error(reason)) => Err(unusable(reason)),
        }
    }
}
