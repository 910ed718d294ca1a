use std::fs;

use anyhow::{Context, Result};

use crate::project::{Mode, Project};
use crate::{browser_module, server, site};

/// Builds the one release binary with every asset inside.
pub fn dist(project: &Project) -> Result<()> {
    browser_module::build(project, Mode::Release)?;
    site::write(project, Mode::Release)?;
    server::build(project, Mode::Release)?;

    let compiled = project.compiled_server(Mode::Release);
    let binary = project.dist_binary();
    let copy = || {
        if let Some(directory) = binary.parent() {
            fs::create_dir_all(directory)?;
        }
        // Moved into place, because a binary that runs cannot be written over.
        let unfinished = binary.with_extension("unfinished");
        fs::copy(&compiled, &unfinished)?;
        fs::rename(&unfinished, &binary)?;
        fs::metadata(&binary)
    };
    let size = copy().context("could not put the release binary in its place")?.len();
    let megabytes = size as f64 / 1_000_000.0;
    eprintln!("{}: {megabytes:.1} MB", project.shown(&binary));
    Ok(())
}
