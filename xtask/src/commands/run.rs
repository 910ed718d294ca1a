use std::ffi::OsString;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::commands::{build, dist};
use crate::project::Project;
use crate::server::{Running, Start};
use crate::watch::{Waited, Watch};

const POLL: Duration = Duration::from_millis(200);

/// Build Throughline and start it; Ctrl-C ends it
#[derive(clap::Args)]
pub struct Arguments {
    /// Run what people get instead of a build for work at the code
    #[arg(long)]
    release: bool,
    /// Given to `throughline serve` as they are
    #[arg(last = true)]
    serve_arguments: Vec<OsString>,
}

/// Builds the app, starts it, and stays until it ends.
pub fn run(project: &Project, arguments: &Arguments) -> Result<()> {
    let start = if arguments.release {
        dist::dist(project)?;
        Start::dist(project, &arguments.serve_arguments)
    } else {
        build::debug(project, &arguments.serve_arguments, false)?
    };
    // Only now: until here Ctrl-C should end this tool and the build at once.
    let watch = Watch::interrupts(project)?;
    let mut running = Running::start(project, &start)?;
    loop {
        if let Waited::Interrupted = watch.wait(POLL) {
            return running.stop();
        }
        if let Some(status) = running.ended()? {
            if status.success() {
                return Ok(());
            }
            bail!("the server ended by itself ({status})");
        }
    }
}
