use std::ffi::OsString;

use anyhow::Result;

use crate::commands::dist;
use crate::project::{Mode, Project};
use crate::server::Start;
use crate::{browser_module, server, site};

/// Build the browser module and the server
#[derive(clap::Args)]
pub struct Arguments {
    /// Build for people instead of for work at the code
    #[arg(long)]
    pub release: bool,
}

/// Builds everything.
pub fn build(project: &Project, arguments: &Arguments) -> Result<()> {
    if arguments.release { dist::dist(project) } else { debug(project, &[], false).map(|_| ()) }
}

/// Builds for work at the code, and tells how to start what was built.
pub fn debug<'a>(
    project: &Project,
    arguments: &'a [OsString],
    reload_pages: bool,
) -> Result<Start<'a>> {
    browser_module::build(project, Mode::Debug)?;
    server::build(project, Mode::Debug)?;
    // Last, so that a server under way keeps its files until there is a new one.
    site::write(project, Mode::Debug)?;
    Ok(Start::debug(project, arguments, reload_pages))
}
