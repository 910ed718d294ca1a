//! The files of one data directory, each with a lock of its own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::error::JournalError;
use super::session_file::SessionFile;
use super::storage::Storage;
use crate::domain::ids::SessionId;
use crate::server::lock::lock;

/// How many files are kept open.
pub const MAX_OPEN_FILES: usize = 256;

/// The lock that gives one writer or reader a file to itself. It is tokio's because a pending line
/// holds it while the database commits.
pub(super) type FileLock = Arc<tokio::sync::Mutex<SessionFile>>;

/// An LRU cache of open files. Clones share the files and their locks.
#[derive(Clone)]
pub(super) struct OpenFiles {
    storage: Arc<dyn Storage>,
    cache: Arc<Mutex<FileCache>>,
}

#[derive(Default)]
struct FileCache {
    by_session: HashMap<SessionId, CachedFile>,
    uses: u64,
}

struct CachedFile {
    file: FileLock,
    /// Counts up with every append; a file that was only read goes first.
    last_use: u64,
}

impl OpenFiles {
    pub fn new(storage: Arc<dyn Storage>) -> Self {
        Self { storage, cache: Arc::default() }
    }

    pub fn storage(&self) -> &dyn Storage {
        &*self.storage
    }

    /// Returns the lock of a session's file, to be written to.
    pub fn for_writing(&self, session: &SessionId) -> FileLock {
        lock(&self.cache).for_writing(session)
    }

    /// Does something with one session's file that no append may come between.
    pub fn with_exclusive<T>(
        &self,
        session: &SessionId,
        work: impl FnOnce(&mut SessionFile, &dyn Storage) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        let file = lock(&self.cache).for_reading(session);
        work(&mut file.blocking_lock(), &*self.storage)
    }
}

impl FileCache {
    fn for_writing(&mut self, session: &SessionId) -> FileLock {
        self.uses += 1;
        match self.by_session.get_mut(session) {
            Some(cached) => {
                cached.last_use = self.uses;
                cached.file.clone()
            }
            None => self.insert(session, self.uses),
        }
    }

    fn for_reading(&mut self, session: &SessionId) -> FileLock {
        match self.by_session.get(session) {
            Some(cached) => cached.file.clone(),
            None => self.insert(session, 0),
        }
    }

    fn insert(&mut self, session: &SessionId, last_use: u64) -> FileLock {
        while self.by_session.len() >= MAX_OPEN_FILES && self.evict() {}
        let file = FileLock::default();
        self.by_session.insert(session.clone(), CachedFile { file: file.clone(), last_use });
        file
    }

    /// Closes the least recently used file, unless all are in use or in need of repair.
    fn evict(&mut self) -> bool {
        let idle = |cached: &mut CachedFile| {
            // Nobody else can get hold of a file now, so one that is not shared stays so.
            let file = Arc::get_mut(&mut cached.file)?.get_mut();
            (!file.needs_repair()).then_some(cached.last_use)
        };
        let oldest = self
            .by_session
            .iter_mut()
            .filter_map(|(session, cached)| Some((idle(cached)?, session)))
            .min_by_key(|(last_use, _)| *last_use)
            .map(|(_, session)| session.clone());
        oldest.is_some_and(|session| self.by_session.remove(&session).is_some())
    }
}
