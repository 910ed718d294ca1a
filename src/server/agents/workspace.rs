//! The files of one conversation: everything stays inside its folder and within bounds.

mod command;
mod search;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, DirEntry, File};
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use super::words::size;
use crate::domain::message::ToolOutput;

pub use command::Running;

/// How much of a file is read.
const READ_LIMIT: usize = 256 * 1024;

/// How many entries of a folder are listed.
const LISTED: usize = 200;

/// How many lines a diff shows on either side of a change.
const CONTEXT_LINES: usize = 3;

/// Says in plain words why something is not done.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error("“{0}” is outside the folder of this conversation.")]
    Outside(String),
    #[error("“{0}” has “..” in it: write the path from the folder of this conversation.")]
    Climbs(String),
    #[error("The folder of this conversation, “{0}”, cannot be opened.")]
    NoFolder(String),
    #[error("There is no “{0}” in this folder.")]
    Missing(String),
    #[error("“{0}” is not a folder.")]
    NotAFolder(String),
    #[error("“{0}” is not a file that can be read.")]
    NotAFile(String),
    #[error("“{0}” is not a text file, or too large to edit.")]
    NotEditable(String),
    #[error("“{path}” holds the text to replace {times}; it must be there once.")]
    NotOnce { path: String, times: String },
    #[error("“{0}” is there already.")]
    Exists(String),
    #[error("“{path}” cannot be used: {reason}.")]
    Failed { path: String, reason: io::Error },
    #[error("The work was not finished: {0}.")]
    Unfinished(String),
}

/// A folder as a person reads it, with what it adds up to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    pub text: String,
    pub files: usize,
    pub folders: usize,
    pub bytes: u64,
}

/// What the first bytes of a file are.
pub enum Content {
    Text { text: String, whole: bool },
    Binary,
}

#[derive(Debug, Clone)]
pub struct Workspace {
    root: PathBuf,
}

impl Workspace {
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Finds the folder itself, with every link on the way followed.
    pub fn folder(&self) -> Result<PathBuf, Refusal> {
        let folder = self.root.canonicalize().ok().filter(|folder| folder.is_dir());
        folder.ok_or_else(|| Refusal::NoFolder(self.root.display().to_string()))
    }

    /// Finds what a path names; a path that leads out, by itself or through a link, is refused.
    fn find(&self, path: &str) -> Result<PathBuf, Refusal> {
        let folder = self.folder()?;
        let wanted = Path::new(path.trim());
        if wanted.components().any(|component| component == Component::ParentDir) {
            return Err(Refusal::Climbs(path.to_owned()));
        }
        let elsewhere =
            wanted.is_absolute() && !wanted.starts_with(&folder) && !wanted.starts_with(&self.root);
        if elsewhere {
            return Err(Refusal::Outside(path.to_owned()));
        }
        let found = folder.join(wanted).canonicalize().map_err(|error| explain(path, error))?;
        if found.starts_with(&folder) { Ok(found) } else { Err(Refusal::Outside(path.to_owned())) }
    }

    /// Lists a folder by name, with sizes.
    pub fn list(&self, path: &str) -> Result<Listing, Refusal> {
        let folder = self.find(path)?;
        if !folder.is_dir() {
            return Err(Refusal::NotAFolder(path.to_owned()));
        }
        let mut listing = Listing { text: String::new(), files: 0, folders: 0, bytes: 0 };
        let mut lines: BTreeMap<OsString, String> = BTreeMap::new();
        let mut left_out = 0;
        for entry in fs::read_dir(folder).map_err(|error| explain(path, error))? {
            let entry = entry.map_err(|error| explain(path, error))?;
            lines.insert(entry.file_name(), describe(&entry, &mut listing));
            if lines.len() > LISTED {
                lines.pop_last();
                left_out += 1;
            }
        }
        listing.text = lines.into_values().collect();
        if listing.text.is_empty() {
            listing.text = "The folder is empty.\n".to_owned();
        }
        if left_out > 0 {
            listing.text.push_str(&format!("… and {left_out} more.\n"));
        }
        Ok(listing)
    }

    /// Reads a text file; a binary one is only named.
    pub fn read(&self, path: &str) -> Result<String, Refusal> {
        let file = self.find_file(path)?;
        let length = fs::metadata(&file).map_err(|error| explain(path, error))?.len();
        let shown_size = size(length);
        match read_start(&file).map_err(|error| explain(path, error))? {
            Content::Binary => {
                Ok(format!("{path} is a binary file of {shown_size}; it is not shown.\n"))
            }
            Content::Text { text, .. } if text.is_empty() => Ok(format!("{path} is empty.\n")),
            Content::Text { text, whole: true } => Ok(text),
            Content::Text { text, whole: false } => {
                let limit = size(READ_LIMIT as u64);
                Ok(format!("{text}\n… the first {limit} of {shown_size} are shown.\n"))
            }
        }
    }

    /// Says whether an edit could be done.
    pub fn check_edit(&self, path: &str, old: &str) -> Result<(), Refusal> {
        self.editable(path, old).map(drop)
    }

    /// Replaces the one place where `old` stands.
    pub fn edit(&self, path: &str, old: &str, new: &str) -> Result<ToolOutput, Refusal> {
        let (file, text) = self.editable(path, old)?;
        let changed = text.replacen(old, new, 1);
        fs::write(file, &changed).map_err(|error| explain(path, error))?;
        let (old, new) = around_change(&text, &changed);
        Ok(ToolOutput::Diff { path: path.to_owned(), old, new })
    }

    /// Says whether a new file could be made.
    pub fn check_create(&self, path: &str) -> Result<(), Refusal> {
        self.creatable(path).map(drop)
    }

    /// Makes a new file with this text.
    pub fn create(&self, path: &str, text: &str) -> Result<ToolOutput, Refusal> {
        let place = self.creatable(path)?;
        // What appeared meanwhile is not overwritten.
        let made = File::create_new(place).and_then(|mut file| file.write_all(text.as_bytes()));
        made.map_err(|error| explain(path, error))?;
        let (path, new) = (path.to_owned(), text.to_owned());
        Ok(ToolOutput::Diff { path, old: String::new(), new })
    }

    fn creatable(&self, path: &str) -> Result<PathBuf, Refusal> {
        let wanted = Path::new(path.trim());
        let name = wanted.file_name().ok_or_else(|| Refusal::NotAFile(path.to_owned()))?;
        let parent = wanted.parent().unwrap_or(Path::new(""));
        let place = self.find(&parent.to_string_lossy())?.join(name);
        match fs::symlink_metadata(&place) {
            Ok(_) => Err(Refusal::Exists(path.to_owned())),
            Err(_) => Ok(place),
        }
    }

    fn editable(&self, path: &str, old: &str) -> Result<(PathBuf, String), Refusal> {
        let file = self.find_file(path)?;
        let Content::Text { text, whole: true } =
            read_start(&file).map_err(|error| explain(path, error))?
        else {
            return Err(Refusal::NotEditable(path.to_owned()));
        };
        match text.matches(old).count() {
            1 => Ok((file, text)),
            0 => Err(Refusal::NotOnce { path: path.to_owned(), times: "nowhere".to_owned() }),
            count => {
                Err(Refusal::NotOnce { path: path.to_owned(), times: format!("{count} times") })
            }
        }
    }

    /// Finds a plain file; opening a pipe or a device could wait for ever.
    fn find_file(&self, path: &str) -> Result<PathBuf, Refusal> {
        let file = self.find(path)?;
        if file.is_file() { Ok(file) } else { Err(Refusal::NotAFile(path.to_owned())) }
    }
}

/// Writes one line about an entry and adds it up; a link is named and never followed.
fn describe(entry: &DirEntry, listing: &mut Listing) -> String {
    let name = entry.file_name().to_string_lossy().replace(char::is_control, "?");
    match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => {
            listing.folders += 1;
            format!("{name}/\n")
        }
        Ok(metadata) if metadata.is_file() => {
            listing.files += 1;
            listing.bytes += metadata.len();
            format!("{name}  {}\n", size(metadata.len()))
        }
        Ok(metadata) if metadata.is_symlink() => format!("{name}  (link)\n"),
        _ => format!("{name}  (special)\n"),
    }
}

/// Reads the start of a file and says whether it is text.
pub fn read_start(file: &Path) -> io::Result<Content> {
    let mut bytes = Vec::new();
    fs::File::open(file)?.take(READ_LIMIT as u64 + 1).read_to_end(&mut bytes)?;
    let whole = bytes.len() <= READ_LIMIT;
    bytes.truncate(READ_LIMIT);
    if bytes.contains(&0) {
        return Ok(Content::Binary);
    }
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if !whole && error.utf8_error().error_len().is_none() => {
            // The limit fell into the middle of a character.
            String::from_utf8_lossy(error.as_bytes()).trim_end_matches('\u{fffd}').to_owned()
        }
        Err(_) => return Ok(Content::Binary),
    };
    Ok(Content::Text { text, whole })
}

/// Cuts two versions of a text down to the lines that differ and a few around them.
fn around_change(old: &str, new: &str) -> (String, String) {
    let (old, new): (Vec<_>, Vec<_>) =
        (old.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let shorter = old.len().min(new.len()) - same;
    let alike = old.iter().rev().zip(new.iter().rev()).take(shorter);
    let same_after = alike.take_while(|(old, new)| old == new).count();
    let cut = |lines: &[&str]| {
        let end = (lines.len() - same_after + CONTEXT_LINES).min(lines.len());
        lines.get(same.saturating_sub(CONTEXT_LINES)..end).unwrap_or(lines).concat()
    };
    (cut(&old), cut(&new))
}

fn explain(path: &str, reason: io::Error) -> Refusal {
    match reason.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Refusal::Missing(path.to_owned()),
        _ => Refusal::Failed { path: path.to_owned(), reason },
    }
}
