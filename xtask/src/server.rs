//! The half that runs on a machine: compiled, started, and ended in good order.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};
use std::{env, thread};

use anyhow::{Context, Result};

use crate::project::{Mode, NAME, Project};
use crate::{cargo, toolchain};

/// How long a server may take to end in good order before it is ended anyway.
const GRACE: Duration = Duration::from_secs(3);

const POLL: Duration = Duration::from_millis(50);

/// Compiles the server; a release carries its site inside, so the site must be written before.
pub fn build(project: &Project, mode: Mode) -> Result<()> {
    let mut command = cargo::command(project);
    command.args(["build", "--package", NAME, "--bin", NAME]);
    command.args(["--features", "ssr"]);
    if mode == Mode::Release {
        command.arg("--release");
        command.env("THROUGHLINE_EMBED", project.site(mode));
        command.env("CARGO_ENCODED_RUSTFLAGS", toolchain::release_flags(project)?);
    }
    cargo::build("building the server", &mut command)
}

/// How to start a server.
pub struct Start<'a> {
    pub binary: PathBuf,
    /// The site to serve, for a binary that carries none.
    pub site: Option<PathBuf>,
    /// Given to `throughline serve` as they are.
    pub arguments: &'a [OsString],
    /// Lets open pages reload when the server comes back.
    pub reload_pages: bool,
}

impl<'a> Start<'a> {
    /// Starts what was built for work at the code.
    pub fn debug(project: &Project, arguments: &'a [OsString], reload_pages: bool) -> Self {
        Self {
            binary: project.compiled_server(Mode::Debug),
            site: Some(project.site(Mode::Debug)),
            arguments,
            reload_pages,
        }
    }

    /// Starts the one binary for people.
    pub fn dist(project: &Project, arguments: &'a [OsString]) -> Self {
        Self { binary: project.dist_binary(), site: None, arguments, reload_pages: false }
    }
}

/// A server under way; it ends with this value.
pub struct Running {
    child: Child,
}

impl Running {
    /// Starts a server on a data directory inside the project, unless told of another.
    pub fn start(project: &Project, start: &Start) -> Result<Self> {
        let mut command = Command::new(&start.binary);
        command.arg("serve").args(start.arguments);
        if env::var_os("THROUGHLINE_DATA_DIR").is_none() {
            command.env("THROUGHLINE_DATA_DIR", project.root.join("data"));
        }
        match &start.site {
            Some(site) => command.env("THROUGHLINE_SITE", site),
            None => command.env_remove("THROUGHLINE_SITE"),
        };
        if start.reload_pages {
            command.env("THROUGHLINE_DEV", "1");
        }
        // In a group of its own, so that Ctrl-C reaches this tool alone and the server is told once.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command
            .spawn()
            .with_context(|| format!("could not start {}", project.shown(&start.binary)))?;
        Ok(Self { child })
    }

    /// Tells whether the server has ended by itself, and how.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        self.child.try_wait().context("could not tell whether the server still runs")
    }

    /// Asks the server to end, and waits until it has.
    pub fn stop(mut self) -> Result<()> {
        self.ask_to_end();
        let asked = Instant::now();
        while asked.elapsed() < GRACE {
            if self.ended()?.is_some() {
                return Ok(());
            }
            thread::sleep(POLL);
        }
        eprintln!("the server did not end within {} s; ending it", GRACE.as_secs());
        Ok(())
    }

    #[cfg(unix)]
    fn ask_to_end(&self) {
        use nix::sys::signal::{Signal, kill};
        use nix::unistd::Pid;
        if let Ok(id) = i32::try_from(self.child.id()) {
            // It fails only when the server has ended already.
            let _ = kill(Pid::from_raw(id), Signal::SIGTERM);
        }
    }

    #[cfg(not(unix))]
    fn ask_to_end(&mut self) {
        let _ = self.child.kill();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Both fail only when the server has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
