//! A disk that a test owns: it can lose power between any two operations, tear a write, refuse to
//! work for a while, and show after a restart any of the things that a real one might.

mod medium;

use std::collections::BTreeMap;
use std::io::{self, Cursor, ErrorKind, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use throughline::server::journal::{AppendFile, Storage};

use medium::{Change, Inode, Write};
pub use medium::{FATES, Fate, fates};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Create,
    Append(usize),
    Truncate,
    Sync,
    Rename,
    Remove,
    SyncFolder,
}

/// When the power goes, seen from the operation that is its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    Before,
    After,
    /// An append has put so many of its bytes into the file.
    Torn(usize),
}

/// An operation that fails until the disk is healed.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    pub concerns: fn(Operation) -> bool,
    pub kind: ErrorKind,
    /// How much of an append is written before it fails.
    pub written: usize,
}

type Hook = Box<dyn FnOnce() + Send>;

#[derive(Default)]
struct State {
    inodes: Vec<Inode>,
    folder: BTreeMap<String, usize>,
    folder_on_disk: BTreeMap<String, usize>,
    unsynced: Vec<Change>,
    operations: Vec<Operation>,
    crash: Option<(usize, Moment)>,
    on_crash: Option<Hook>,
    on_sync: Option<Hook>,
    dead: bool,
    faults: Vec<Fault>,
    open_files: usize,
}

/// Says how much of an operation is done.
#[derive(Clone, Copy)]
enum Extent {
    Whole,
    Torn(usize),
    Failed(usize),
}

#[derive(Clone, Default)]
pub struct CrashDisk(Arc<Mutex<State>>);

impl CrashDisk {
    pub fn crash_at(&self, operation: usize, moment: Moment) {
        self.state().crash = Some((operation, moment));
    }

    /// Does something at the moment of the crash, before anybody learns of it.
    pub fn on_crash(&self, hook: impl FnOnce() + Send + 'static) {
        self.state().on_crash = Some(Box::new(hook));
    }

    /// Does something before the next sync of a file.
    pub fn on_sync(&self, hook: impl FnOnce() + Send + 'static) {
        self.state().on_sync = Some(Box::new(hook));
    }

    pub fn fail(&self, kind: ErrorKind, written: usize, concerns: fn(Operation) -> bool) {
        self.state().faults.push(Fault { concerns, kind, written });
    }

    pub fn heal(&self) {
        self.state().faults.clear();
    }

    /// Lists what was asked of the disk since the last call.
    pub fn take_operations(&self) -> Vec<Operation> {
        std::mem::take(&mut self.state().operations)
    }

    pub fn open_files(&self) -> usize {
        self.state().open_files
    }

    /// Puts a file there as if it had always been.
    pub fn plant(&self, name: &str, bytes: &[u8]) {
        let mut state = self.state();
        let inode = state.inodes.len();
        state.inodes.push(Inode::holding(bytes.into()));
        state.folder.insert(name.into(), inode);
        state.folder_on_disk.insert(name.into(), inode);
    }

    pub fn content(&self, name: &str) -> Option<Vec<u8>> {
        let state = self.state();
        Some(state.inodes[*state.folder.get(name)?].cached.clone())
    }

    /// Gives every file with its name, as reading shows them.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let state = self.state();
        let file =
            |(name, inode): (&String, &usize)| (name.clone(), state.inodes[*inode].cached.clone());
        state.folder.iter().map(file).collect()
    }

    /// Shows what is there after a power loss, on a disk that works.
    pub fn reboot(&self, data: Fate, names: Fate) -> Self {
        let state = self.state();
        let mut folder = state.folder_on_disk.clone();
        let kept = names.of(state.unsynced.len());
        state.unsynced.iter().take(kept).for_each(|change| change.apply(&mut folder));
        let inodes = state.inodes.iter().map(|inode| inode.after_crash(data)).collect();
        let folder_on_disk = folder.clone();
        Self(Arc::new(Mutex::new(State { inodes, folder, folder_on_disk, ..State::default() })))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn alive(&self) -> io::Result<MutexGuard<'_, State>> {
        let state = self.state();
        if state.dead { Err(io::Error::other("the power is out")) } else { Ok(state) }
    }

    fn operate(
        &self,
        operation: Operation,
        act: impl FnOnce(&mut State, Extent),
    ) -> io::Result<()> {
        if operation == Operation::Sync
            && let Some(hook) = self.state().on_sync.take()
        {
            hook();
        }
        let mut state = self.alive()?;
        let number = state.operations.len();
        state.operations.push(operation);
        if let Some(fault) = state.faults.iter().find(|fault| (fault.concerns)(operation)).copied()
        {
            act(&mut state, Extent::Failed(fault.written));
            return Err(fault.kind.into());
        }
        match state.crash.filter(|(at, _)| *at == number) {
            None => {
                act(&mut state, Extent::Whole);
                return Ok(());
            }
            Some((_, Moment::Before)) => {}
            Some((_, Moment::After)) => act(&mut state, Extent::Whole),
            Some((_, Moment::Torn(written))) => act(&mut state, Extent::Torn(written)),
        }
        state.dead = true;
        if let Some(hook) = state.on_crash.take() {
            hook();
        }
        Err(io::Error::other("the power went out"))
    }

    fn change_folder(&self, operation: Operation, change: Change) -> io::Result<()> {
        self.operate(operation, |state, extent| {
            if let Extent::Whole = extent {
                change.apply(&mut state.folder);
                state.unsynced.push(change);
            }
        })
    }
}

impl Storage for CrashDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        Ok(self.alive()?.folder.keys().cloned().collect())
    }

    fn read(&self, name: &str) -> io::Result<Option<Box<dyn Read>>> {
        drop(self.alive()?);
        Ok(self.content(name).map(|bytes| Box::new(Cursor::new(bytes)) as Box<dyn Read>))
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn AppendFile>> {
        let known = self.alive()?.folder.get(name).copied();
        if known.is_none() {
            let inode = self.state().inodes.len();
            self.state().inodes.push(Inode::default());
            self.change_folder(Operation::Create, Change::Link(name.into(), inode))?;
        }
        let mut state = self.alive()?;
        let inode = state.folder.get(name).copied().ok_or(ErrorKind::NotFound)?;
        state.open_files += 1;
        Ok(Box::new(Handle { disk: self.clone(), inode }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.change_folder(Operation::Rename, Change::Rename(from.into(), to.into()))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.change_folder(Operation::Remove, Change::Unlink(name.into()))
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.operate(Operation::SyncFolder, |state, extent| {
            if let Extent::Whole = extent {
                state.unsynced.clear();
                state.folder_on_disk = state.folder.clone();
            }
        })
    }
}

struct Handle {
    disk: CrashDisk,
    inode: usize,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.disk.state().open_files -= 1;
    }
}

impl AppendFile for Handle {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk.alive()?.inodes[self.inode].cached.len() as u64)
    }

    fn last_byte(&mut self) -> io::Result<Option<u8>> {
        Ok(self.disk.alive()?.inodes[self.inode].cached.last().copied())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.disk.operate(Operation::Append(bytes.len()), |state, extent| {
            let inode = &mut state.inodes[self.inode];
            let written = match extent {
                Extent::Whole => bytes.len(),
                Extent::Torn(written) | Extent::Failed(written) => written.min(bytes.len()),
            };
            inode.write(Write::Bytes { at: inode.cached.len(), bytes: bytes[..written].into() });
        })
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.disk.operate(Operation::Truncate, |state, extent| {
            if let Extent::Whole = extent {
                state.inodes[self.inode].write(Write::Length(len as usize));
            }
        })
    }

    fn sync(&mut self) -> io::Result<()> {
        self.disk.operate(Operation::Sync, |state, extent| match extent {
            Extent::Whole | Extent::Torn(_) => state.inodes[self.inode].sync(),
            // Linux drops what it could not write, and goes on showing it until the restart.
            Extent::Failed(_) => state.inodes[self.inode].unsynced.clear(),
        })
    }
}
