//! The few things that the journal asks of a disk.
//!
//! Every step that a crash can come between is a call of its own, so that a simulated disk sees
//! the same order of writes and syncs as the real one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::domain::ids::SessionId;

const JOURNAL_DIR: &str = "_turn_journal";
const ENDING: &str = ".jsonl";
const TEMP_ENDING: &str = ".jsonl.part";

/// One folder of files.
pub trait Storage: Send + Sync + 'static {
    fn list(&self) -> io::Result<Vec<String>>;

    /// Opens a file to be read from its start; `None` when there is none.
    fn read(&self, name: &str) -> io::Result<Option<Box<dyn Read>>>;

    /// Opens a file to be appended to, and creates it when there is none.
    fn open(&self, name: &str) -> io::Result<Box<dyn AppendFile>>;

    /// Gives one file the name of another, which it replaces.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;

    fn remove(&self, name: &str) -> io::Result<()>;

    /// Makes what was created, renamed and removed outlast a power loss.
    fn sync_folder(&self) -> io::Result<()>;
}

pub trait AppendFile: Send {
    fn len(&self) -> io::Result<u64>;

    fn is_empty(&self) -> io::Result<bool> {
        self.len().map(|len| len == 0)
    }

    fn last_byte(&mut self) -> io::Result<Option<u8>>;

    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Shortens the file; a longer `len` is the caller's mistake.
    fn truncate(&mut self, len: u64) -> io::Result<()>;

    /// Makes the bytes and the length outlast a power loss.
    fn sync(&mut self) -> io::Result<()>;
}

/// Names the file of a session; no id holds a slash, and the ending keeps `..` harmless.
pub fn file_name(session: &SessionId) -> String {
    format!("{session}{ENDING}")
}

/// Tells whose file this is, if it is a journal at all.
pub fn session_of(file_name: &str) -> Option<SessionId> {
    SessionId::parse(file_name.strip_suffix(ENDING)?).ok()
}

/// Names the file that is written before it takes the place of `file_name`.
pub(super) fn temp_name(session: &SessionId) -> String {
    format!("{session}{TEMP_ENDING}")
}

pub(super) fn is_temp(file_name: &str) -> bool {
    file_name.ends_with(TEMP_ENDING)
}

/// The real directory.
#[derive(Debug)]
pub struct DirStorage {
    path: PathBuf,
    handle: File,
    is_read_only: bool,
}

impl DirStorage {
    /// Opens `<data>/_turn_journal`, and creates it so that it survives a power loss.
    pub fn open(data_dir: &Path) -> io::Result<Self> {
        let path = data_dir.join(JOURNAL_DIR);
        fs::create_dir_all(&path)?;
        File::open(data_dir)?.sync_all()?;
        let handle = File::open(&path)?;
        Ok(Self { path, handle, is_read_only: false })
    }

    /// Opens `<data>/_turn_journal` so that every write to it is refused.
    pub fn open_read_only(data_dir: &Path) -> io::Result<Self> {
        let path = data_dir.join(JOURNAL_DIR);
        let handle = File::open(&path)?;
        Ok(Self { path, handle, is_read_only: true })
    }

    fn check_writable(&self) -> io::Result<()> {
        if self.is_read_only { Err(io::ErrorKind::ReadOnlyFilesystem.into()) } else { Ok(()) }
    }
}

impl Storage for DirStorage {
    fn list(&self) -> io::Result<Vec<String>> {
        fs::read_dir(&self.path)?
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect()
    }

    fn read(&self, name: &str) -> io::Result<Option<Box<dyn Read>>> {
        match File::open(self.path.join(name)) {
            Ok(file) => Ok(Some(Box::new(file))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn open(&self, name: &str) -> io::Result<Box<dyn AppendFile>> {
        self.check_writable()?;
        let path = self.path.join(name);
        let file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
        Ok(Box::new(file))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.check_writable()?;
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.check_writable()?;
        fs::remove_file(self.path.join(name))
    }

    fn sync_folder(&self) -> io::Result<()> {
        self.handle.sync_all()
    }
}

impl AppendFile for File {
    fn len(&self) -> io::Result<u64> {
        self.metadata().map(|metadata| metadata.len())
    }

    fn last_byte(&mut self) -> io::Result<Option<u8>> {
        if AppendFile::is_empty(self)? {
            return Ok(None);
        }
        let mut byte = [0];
        // Appending does not care where the file was last read.
        self.seek(SeekFrom::End(-1))?;
        self.read_exact(&mut byte)?;
        Ok(byte.first().copied())
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}
