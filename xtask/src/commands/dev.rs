use std::ffi::OsString;
use std::time::Duration;

use anyhow::Result;

use crate::commands::build;
use crate::project::{Mode, Project};
use crate::server::{Running, Start};
use crate::site;
use crate::watch::{Changes, Waited, Watch};

const POLL: Duration = Duration::from_millis(500);

/// Run Throughline, and rebuild and reload it whenever a file changes
#[derive(clap::Args)]
pub struct Arguments {
    /// Given to `throughline serve` as they are
    #[arg(last = true)]
    serve_arguments: Vec<OsString>,
}

/// Runs the app, follows changes in the code, and stays until Ctrl-C.
pub fn dev(project: &Project, arguments: &Arguments) -> Result<()> {
    let watch = Watch::files(project)?;
    let mut workshop = Workshop {
        project,
        serve_arguments: &arguments.serve_arguments,
        unbuilt: Changes::default(),
        running: None,
    };
    workshop.update(Changes { source: true, ..Changes::default() });
    loop {
        match watch.wait(POLL) {
            Waited::Changed(changes) => workshop.update(changes),
            Waited::NothingYet => workshop.look_after()?,
            Waited::Interrupted => return workshop.stop(),
        }
    }
}

/// The server under way, and what was changed since it was built.
struct Workshop<'a> {
    project: &'a Project,
    serve_arguments: &'a [OsString],
    /// What a failed build has not taken in yet: the next one must.
    unbuilt: Changes,
    running: Option<Running>,
}

impl Workshop<'_> {
    /// Rebuilds what changed and puts a new server in the old one's place; after a failure the old one stays.
    fn update(&mut self, changes: Changes) {
        self.unbuilt = self.unbuilt.and(changes);
        if let Err(error) = self.rebuild_and_restart() {
            let consequence = if self.running.is_some() {
                "the server from before keeps running"
            } else {
                "waiting for a change"
            };
            eprintln!("failed: {error:#}; {consequence}");
        }
    }

    fn rebuild_and_restart(&mut self) -> Result<()> {
        let start = if self.unbuilt.source {
            build::debug(self.project, self.serve_arguments, true)?
        } else {
            site::write(self.project, Mode::Debug)?;
            Start::debug(self.project, self.serve_arguments, true)
        };
        self.unbuilt = Changes::default();
        self.stop()?;
        self.running = Some(Running::start(self.project, &start)?);
        Ok(())
    }

    /// Notices when the server has ended by itself.
    fn look_after(&mut self) -> Result<()> {
        if let Some(server) = &mut self.running
            && let Some(status) = server.ended()?
        {
            eprintln!("the server ended by itself ({status}); waiting for a change");
            self.running = None;
        }
        Ok(())
    }

    fn stop(&mut self) -> Result<()> {
        self.running.take().map_or(Ok(()), Running::stop)
    }
}
