//! The files in which pi keeps its conversations. They are read and never written.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde_json::Value;

use crate::domain::time::Timestamp;
use crate::server::agents::json::{list, text};
use crate::server::agents::remembered::{Remembered, newest_first};

/// How many lines of a file are looked at for something to call it by.
const TITLE_WITHIN: usize = 50;

/// How many letters of a prompt name a conversation.
const TITLE_LETTERS: usize = 80;

/// How many conversations are listed, and how many bytes one may have.
const MOST: usize = 200;
const LARGEST: u64 = 256 * 1024 * 1024;

/// The files of one folder.
pub struct Archive {
    place: PathBuf,
    folder: PathBuf,
}

impl Archive {
    /// Finds where pi keeps what was said in a folder, with the environment that it is started in.
    pub fn of(folder: &Path, environment: &BTreeMap<String, String>) -> Self {
        let variable = |name: &str| {
            let set = environment.get(name).map(PathBuf::from);
            set.or_else(|| std::env::var_os(name).map(PathBuf::from))
        };
        let home = || variable("HOME").unwrap_or_default().join(".pi/agent");
        let own = variable("PI_CODING_AGENT_DIR").unwrap_or_else(home);
        let path = folder.display().to_string();
        let name = path.trim_start_matches('/').replace(['/', '\\', ':'], "-");
        let place = own.join("sessions").join(format!("--{name}--"));
        Self { place, folder: folder.to_owned() }
    }

    /// Lists the conversations, newest first. A file that cannot be read is none.
    pub fn list(&self) -> Vec<Remembered> {
        let files = fs::read_dir(&self.place).into_iter().flatten().flatten();
        let mut found: Vec<_> = files.filter_map(|file| self.look(&file.path())).collect();
        found = newest_first(found);
        found.truncate(MOST);
        found
    }

    /// Reads a conversation by the path of its file, which must be one of this folder's.
    pub fn read(&self, file: &str) -> io::Result<Vec<Value>> {
        let file = Path::new(file);
        if self.look(file).is_none() {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        }
        Ok(spoken(entries(file)?.collect()))
    }

    /// Tells what a file holds, without reading it all.
    fn look(&self, file: &Path) -> Option<Remembered> {
        let mut lines = entries(file).ok()?;
        let header = lines.next()?;
        let ours = text(&header, "cwd").is_some_and(|cwd| Path::new(cwd) == self.folder);
        let is_own = file.parent() == Some(&self.place);
        if !ours || !is_own || text(&header, "type") != Some("session") {
            return None;
        }
        let title = lines.take(TITLE_WITHIN).find_map(|entry| title(&entry));
        let changed = fs::metadata(file).and_then(|about| about.modified()).ok();
        let since = changed.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        Some(Remembered {
            agent_session: file.to_str()?.to_owned(),
            title: title.unwrap_or_default(),
            updated_at: since.map(|since| Timestamp::from_seconds(since.as_secs_f64())),
        })
    }
}

/// Reads the lines of a file one by one; what is no JSON is passed over.
fn entries(file: &Path) -> io::Result<impl Iterator<Item = Value> + use<>> {
    let about = fs::metadata(file)?;
    if !about.is_file() || about.len() > LARGEST {
        return Err(io::Error::from(io::ErrorKind::InvalidInput));
    }
    let lines = BufReader::new(File::open(file)?).lines().map_while(Result::ok);
    Ok(lines.filter_map(|line| serde_json::from_str(&line).ok()))
}

/// Gives the name of a conversation, or the beginning of its first prompt.
fn title(entry: &Value) -> Option<String> {
    let message = entry.get("message").unwrap_or(&Value::Null);
    let words = match (text(entry, "type"), text(message, "role")) {
        (Some("session_info"), _) => text(entry, "name"),
        (_, Some("user")) => text(message, "content")
            .or_else(|| list(message, "content").iter().find_map(|block| text(block, "text"))),
        _ => None,
    }?;
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(words.chars().take(TITLE_LETTERS).collect()).filter(|words: &String| !words.is_empty())
}

/// Picks what was said in the end: entries form a tree, and the last one stands at the end of the
/// branch that counts. Files of the first version have no tree, and all of them counts.
fn spoken(entries: Vec<Value>) -> Vec<Value> {
    let parents: BTreeMap<_, _> = entries
        .iter()
        .filter_map(|entry| {
            Some((text(entry, "id")?.to_owned(), text(entry, "parentId")?.to_owned()))
        })
        .collect();
    let mut here = entries.last().and_then(|entry| text(entry, "id")).map(str::to_owned);
    if here.is_none() || parents.is_empty() {
        return entries;
    }
    let mut branch = Vec::new();
    while let Some(id) = here.filter(|id| !branch.contains(id)) {
        here = parents.get(&id).cloned();
        branch.push(id);
    }
    let counts =
        |entry: &Value| text(entry, "id").is_some_and(|id| branch.iter().any(|it| it == id));
    entries.into_iter().filter(counts).collect()
}
