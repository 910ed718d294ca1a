//! Finds a text in the files of a workspace, within bounds that keep it quick on any folder.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Content, Refusal, Workspace, read_start};
use crate::server::agents::words::one_line;

/// How many matching lines are shown.
const MATCHES: usize = 100;

/// How many entries are looked at, folders included.
const ENTRIES: usize = 5_000;

/// How many bytes are read in all.
const BYTES: usize = 32 * 1024 * 1024;

/// Folders that hold what tools made, not what people wrote.
const SKIPPED: [&str; 3] = ["node_modules", "target", "__pycache__"];

/// A search under way.
struct Search<'a> {
    wanted: &'a str,
    root: &'a Path,
    lines: Vec<String>,
    entries: usize,
    bytes: usize,
}

impl Workspace {
    /// Lists the lines that hold a text, in the order of their paths.
    pub fn search(&self, wanted: &str) -> Result<String, Refusal> {
        let root = self.folder()?;
        let mut search = Search { wanted, root: &root, lines: Vec::new(), entries: 0, bytes: 0 };
        let complete = search.walk();
        let mut found = search.lines.concat();
        if found.is_empty() {
            found = format!("“{}” is in none of the files.\n", one_line(wanted));
        }
        if !complete {
            found.push_str("… there is more than was searched.\n");
        }
        Ok(found)
    }
}

impl Search<'_> {
    /// Goes through folders in depth; says whether everything was seen. Links are not followed, so
    /// the way neither leads out nor in circles.
    fn walk(&mut self) -> bool {
        let mut waiting = vec![self.root.to_owned()];
        while let Some(path) = waiting.pop() {
            if self.lines.len() >= MATCHES || self.bytes >= BYTES || self.entries >= ENTRIES {
                return false;
            }
            self.entries += 1;
            match fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_dir() => {
                    waiting.extend(children(&path).into_iter().rev());
                }
                Ok(metadata) if metadata.is_file() => self.look_into(&path),
                _ => {}
            }
        }
        true
    }

    fn look_into(&mut self, path: &Path) {
        let Ok(Content::Text { text, .. }) = read_start(path) else {
            return;
        };
        self.bytes += text.len();
        let shown = path.strip_prefix(self.root).unwrap_or(path).display();
        for (place, line) in text.lines().enumerate() {
            if line.contains(self.wanted) && self.lines.len() < MATCHES {
                self.lines.push(format!("{shown}:{}: {}\n", place + 1, one_line(line)));
            }
        }
    }
}

/// Names what a folder holds, in order, without hidden entries.
fn children(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<_> =
        entries.take(ENTRIES).filter_map(|entry| Some(entry.ok()?.file_name())).collect();
    names.retain(|name| {
        let name = name.to_string_lossy();
        !name.starts_with('.') && !SKIPPED.contains(&name.as_ref())
    });
    names.sort();
    names.into_iter().map(|name| folder.join(name)).collect()
}
