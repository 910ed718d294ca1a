//! The end-to-end tests: Playwright, and a browser for it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::{Result, bail};

use crate::process;
use crate::project::{Mode, Project};
use crate::server::Start;

const BROWSERS: [&str; 4] =
    ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Playwright, ready to run.
pub struct BrowserTests {
    directory: PathBuf,
    /// None lets Playwright use the browser that it installed itself.
    browser: Option<PathBuf>,
    /// What the tests are told beside the server.
    variables: Vec<(&'static str, PathBuf)>,
}

impl BrowserTests {
    /// Installs Playwright and a browser where they are missing.
    pub fn prepare(project: &Project) -> Result<Self> {
        let directory = project.root.join("end2end");
        install_packages(&directory)?;
        let browser = browser(&directory)?;
        Ok(Self { directory, browser, variables: Vec::new() })
    }

    /// Tells the tests of a path by a variable.
    pub fn with(mut self, name: &'static str, path: &Path) -> Self {
        self.variables.push((name, path.to_owned()));
        self
    }

    /// Runs the tests against a build; they start and stop its server themselves.
    pub fn run(
        &self,
        label: &str,
        mode: Mode,
        start: &Start,
        arguments: &[OsString],
    ) -> Result<()> {
        self.run_with(label, mode, start, arguments, &[])
    }

    /// Runs the tests with more in their environment.
    pub fn run_with(
        &self,
        label: &str,
        mode: Mode,
        start: &Start,
        arguments: &[OsString],
        environment: &[(&str, &OsStr)],
    ) -> Result<()> {
        let mut command = playwright(&self.directory);
        command.arg("test").args(arguments).envs(environment.iter().copied());
        command.env("THROUGHLINE_BIN", &start.binary);
        command.env("THROUGHLINE_BUILD", mode.name());
        match &start.site {
            Some(site) => command.env("THROUGHLINE_SITE", site),
            None => command.env_remove("THROUGHLINE_SITE"),
        };
        for (name, path) in &self.variables {
            command.env(name, path);
        }
        if let Some(browser) = &self.browser {
            command.env("CHROMIUM", browser);
        }
        process::run(label, &mut command)
    }
}

fn playwright(directory: &Path) -> Command {
    let mut command = Command::new("npx");
    command.args(["--no-install", "playwright"]);
    command.current_dir(directory);
    command
}

/// Installs what the lock file names, unless that was done after the lock file last changed.
fn install_packages(directory: &Path) -> Result<()> {
    let changed = |path: &str| -> Option<SystemTime> {
        fs::metadata(directory.join(path)).ok()?.modified().ok()
    };
    let installed = changed("node_modules/.package-lock.json");
    if installed.is_some() && installed >= changed("package-lock.json") {
        return Ok(());
    }
    if process::find("npm").is_none() {
        bail!("the tests in a browser need Node 20 or newer, and npm was not found");
    }
    process::run(
        "installing Playwright",
        Command::new("npm")
            .args(["ci", "--no-audit", "--no-fund"])
            .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
            .current_dir(directory),
    )
}

/// Finds a browser or installs one.
fn browser(directory: &Path) -> Result<Option<PathBuf>> {
    if let Some(named) = env::var_os("CHROMIUM") {
        let named = PathBuf::from(named);
        if !named.is_file() {
            bail!("CHROMIUM names {}, which is no file", named.display());
        }
        return Ok(Some(named));
    }
    if let Some(found) = installed_browser() {
        return Ok(Some(found));
    }
    if is_root() && process::find("apt-get").is_some() {
        match install_from_system() {
            Ok(()) => {
                if let Some(found) = installed_browser() {
                    return Ok(Some(found));
                }
            }
            Err(error) => eprintln!("{error:#}; trying Playwright's own browser"),
        }
    }
    process::run("installing a browser", playwright(directory).args(["install", "chromium"]))?;
    Ok(None)
}

fn installed_browser() -> Option<PathBuf> {
    BROWSERS.iter().find_map(|name| process::find(name))
}

fn install_from_system() -> Result<()> {
    let run = |label: &str, arguments: &[&str]| {
        process::run(
            label,
            Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive"),
        )
    };
    run("reading the list of packages", &["update", "--quiet"])?;
    run(
        "installing Chromium",
        &["install", "--yes", "--quiet", "--no-install-recommends", "chromium", "fonts-liberation"],
    )
}

fn is_root() -> bool {
    process::output(Command::new("id").arg("-u")).is_ok_and(|id| id == "0")
}
