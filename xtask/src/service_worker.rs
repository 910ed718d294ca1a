//! Tells the service worker what this build consists of.

use anyhow::{Context, Result};

use crate::assets::Assets;
use crate::hash;

const PATH: &str = "/sw.js";

/// Files that a page needs besides those of the build.
const NEEDED: [&str; 3] = ["/icon.svg", "/manifest.webmanifest", "/pwa.js"];

/// Puts the list of files and a version that changes with any of them into the service worker.
pub fn fill_in(assets: &mut Assets) -> Result<()> {
    let named = [&assets.script, &assets.glue, &assets.module, &assets.style];
    let snippets = assets.others.iter().filter(|asset| asset.path.starts_with("/pkg/"));
    let needed = assets.others.iter().filter(|asset| NEEDED.contains(&asset.path.as_str()));
    let files: Vec<_> = named.into_iter().chain(snippets).chain(needed).collect();
    let mut contents = Vec::new();
    for file in &files {
        contents.extend_from_slice(file.path.as_bytes());
        contents.extend_from_slice(hash::short(&file.content).as_bytes());
    }
    let paths: Vec<_> = files.iter().map(|file| format!("{:?}", file.path)).collect();
    let paths = format!("[{}]", paths.join(", "));
    let worker = assets.others.iter_mut().find(|asset| asset.path == PATH);
    let worker = worker.context("public/sw.js is missing")?;
    let text = std::str::from_utf8(&worker.content)?;
    contents.extend_from_slice(text.as_bytes());
    let text = text.replace("__VERSION__", &hash::short(&contents)).replace("__FILES__", &paths);
    worker.content = text.into_bytes();
    Ok(())
}
