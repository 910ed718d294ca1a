//! The folders that conversations may work in, and no others.

use std::fs;
use std::path::{Path, PathBuf};

use super::error::ServiceError;
use crate::wire::error::FailureCode;

/// How many folders are offered for what was typed.
const OFFERED: usize = 50;

/// Folders with everything below them, by their true paths.
#[derive(Debug, Clone)]
pub struct Folders {
    roots: Vec<PathBuf>,
}

impl Folders {
    /// Takes true paths; a path that is not absolute is looked for below the first.
    pub fn new(roots: Vec<PathBuf>) -> Self {
        Self { roots }
    }

    /// Gives the true path of a folder that is allowed, and says in plain words why another is not.
    pub fn allow(&self, folder: &Path) -> Result<PathBuf, ServiceError> {
        let refuse = |reason: &str| {
            let message = format!("{} {reason}.", folder.display());
            Err(ServiceError::refused(FailureCode::InvalidRequest, message))
        };
        // What lies outside is not looked at twice: whether it exists is nobody's business.
        let Ok(found) = self.absolute(folder).canonicalize() else {
            return refuse("does not exist");
        };
        match () {
            () if !self.holds(&found) => refuse("is outside the allowed folders"),
            () if !found.is_dir() => refuse("is not a folder"),
            () => Ok(found),
        }
    }

    /// Offers the allowed folders whose path begins with what was typed.
    pub fn complete(&self, typed: &str) -> Vec<String> {
        let path = self.absolute(Path::new(typed));
        let (parent, name) = match typed.is_empty() || typed.ends_with('/') {
            true => (Some(path.as_path()), ""),
            false => (path.parent(), path.file_name().and_then(|name| name.to_str()).unwrap_or("")),
        };
        let mut offered: Vec<_> = self
            .roots
            .iter()
            .map(|root| root.display().to_string())
            .filter(|root| root.starts_with(typed))
            .collect();
        offered.extend(parent.map(|parent| self.children(parent, name)).unwrap_or_default());
        offered.sort();
        offered.dedup();
        offered.truncate(OFFERED);
        offered
    }

    /// Lists folders in an allowed folder; hidden ones only when their dot was typed.
    fn children(&self, parent: &Path, name: &str) -> Vec<String> {
        let inside = parent.canonicalize().ok().filter(|parent| self.holds(parent));
        let Some(entries) = inside.and_then(|parent| fs::read_dir(parent).ok()) else {
            return Vec::new();
        };
        let fits = |entry: &fs::DirEntry| {
            let found = entry.file_name();
            let found = found.to_string_lossy();
            found.starts_with(name) && (name.starts_with('.') || !found.starts_with('.'))
        };
        let folders = entries.flatten().filter(fits).filter_map(|entry| {
            let found = entry.path().canonicalize().ok()?;
            (found.is_dir() && self.holds(&found)).then(|| entry.path().display().to_string())
        });
        folders.take(OFFERED * 4).collect()
    }

    fn holds(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.starts_with(root))
    }

    fn absolute(&self, folder: &Path) -> PathBuf {
        match self.roots.first() {
            Some(first) => first.join(folder),
            None => folder.to_owned(),
        }
    }
}
