//! Programs that can be started here.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Where programs are looked for; every look is a fresh one, so what is installed meanwhile is
/// found.
#[derive(Debug, Clone, Default)]
pub struct Programs {
    folders: Vec<PathBuf>,
}

impl Programs {
    /// Takes folders in the form that `PATH` has.
    pub fn new(path: Option<OsString>) -> Self {
        let folders = path.iter().flat_map(std::env::split_paths);
        Self { folders: folders.filter(|folder| !folder.as_os_str().is_empty()).collect() }
    }

    /// Finds a program by its name, or by its path where it has one.
    pub fn find(&self, command: &str) -> Option<PathBuf> {
        if command.contains('/') {
            return Some(PathBuf::from(command)).filter(|path| is_program(path));
        }
        self.folders.iter().map(|folder| folder.join(command)).find(|path| is_program(path))
    }
}

fn is_program(path: &Path) -> bool {
    let found = fs::metadata(path);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
