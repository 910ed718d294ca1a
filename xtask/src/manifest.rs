//! `assets.json`: tells the server which files there are and which of them a page names.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// The manifest's own name inside the site.
pub const FILE_NAME: &str = "assets.json";

/// What the server reads at its start.
#[derive(Serialize, Deserialize, Clone)]
pub struct Manifest {
    /// The script that a page loads; it starts the module.
    pub script: String,
    pub glue: String,
    pub module: String,
    pub style: String,
    /// The files of each part of the module that is loaded when it is wanted.
    pub parts: BTreeMap<String, Vec<String>>,
    pub files: Vec<File>,
}

/// One file, as the server answers with it.
#[derive(Serialize, Deserialize, Clone)]
pub struct File {
    pub path: String,
    pub content_type: String,
    /// Its name holds its hash, so a browser may keep it for ever.
    pub immutable: bool,
    pub etag: String,
    /// A packed copy lies beside it under `.br`.
    pub brotli: bool,
    /// A packed copy lies beside it under `.gz`.
    pub gzip: bool,
}

impl Manifest {
    /// Reads the manifest of an earlier build, if a readable one is there.
    pub fn read(site: &Path) -> Option<Self> {
        let text = fs::read(site.join(FILE_NAME)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// Writes the manifest, and leaves it untouched where nothing changed.
    pub fn write(&self, site: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        let path = site.join(FILE_NAME);
        if fs::read_to_string(&path).is_ok_and(|existing| existing == text) {
            return Ok(());
        }
        fs::write(path, text).context("could not write the manifest of the site")
    }
}

impl File {
    /// Lists the names under which the file and its packed copies lie in the site.
    pub fn names(&self) -> Vec<String> {
        let name = self.path.trim_start_matches('/');
        let packed = [(self.brotli, "br"), (self.gzip, "gz")]
            .into_iter()
            .filter(|(exists, _)| *exists)
            .map(|(_, extension)| format!("{name}.{extension}"));
        std::iter::once(name.to_owned()).chain(packed).collect()
    }
}
