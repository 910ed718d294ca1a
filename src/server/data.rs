//! The data directory: what is kept in it, and whose it is.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::blobs::Blobs;
use super::journal::{Folder, Journal, JournalError, Storage};
use super::store::{Store, StoreError};
use super::turns::log::TurnLog;

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
    /// Opens a data directory, and makes it where there is none.
    pub async fn open(folder: &Path) -> Result<Self, DataError> {
        let unusable = |reason| DataError::Unusable { folder: folder.to_owned(), reason };
        make_folder(folder).map_err(unusable)?;
        let journal = Folder::open(folder).map_err(unusable)?;
        Self::open_on(folder, Arc::new(journal)).await
    }

    /// Opens a data directory whose journals are elsewhere, such as on a disk that a test owns.
    pub async fn open_on(folder: &Path, storage: Arc<dyn Storage>) -> Result<Self, DataError> {
        let unusable = |reason| DataError::Unusable { folder: folder.to_owned(), reason };
        let blobs = Blobs::open(folder).await.map_err(unusable)?;
        let journal = Journal::open(storage)
            .map_err(|reason| DataError::Journal { folder: folder.to_owned(), reason })?;
        let store = Store::open(folder).await?;
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
    _file: File,
}

impl DataLock {
    pub fn take(folder: &Path) -> Result<Self, DataError> {
        let unusable = |reason| DataError::Unusable { folder: folder.to_owned(), reason };
        make_folder(folder).map_err(unusable)?;
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(folder.join("throughline.lock"))
            .map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(DataError::InUse(folder.to_owned())),
            Err(TryLockError::Error(reason)) => Err(unusable(reason)),
        }
    }
}
