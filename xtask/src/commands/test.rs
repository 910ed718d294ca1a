use std::ffi::OsString;

use anyhow::{Context, Result};

use crate::browser_tests::BrowserTests;
use crate::commands::{build, dist, size};
use crate::manifest::Manifest;
use crate::project::{Mode, Project};
use crate::server::Start;
use crate::{cargo, process};

/// Where each build is tested: the debug build, which complains about more, on a desktop; the release
/// build, which is what people run, on a phone.
const DEBUG_PROJECTS: [&str; 2] = ["--project=desktop", "--project=desktop, no script"];
const RELEASE_PROJECTS: [&str; 2] = ["--project=phone", "--project=phone, no script"];

/// Run every test: in Rust, then in a browser against the debug and the release build
#[derive(clap::Args)]
pub struct Arguments {
    /// Run one kind of test only
    #[arg(long, value_enum)]
    only: Option<Kind>,
    /// Given to Playwright as they are
    #[arg(last = true)]
    playwright_arguments: Vec<OsString>,
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// The tests in Rust
    Unit,
    /// The end-to-end tests in a browser
    E2e,
}

/// Installs what the tests need and runs them; stops at the first that fails.
pub fn test(project: &Project, arguments: &Arguments) -> Result<()> {
    if arguments.only != Some(Kind::E2e) {
        test_in_rust(project)?;
    }
    if arguments.only != Some(Kind::Unit) {
        test_in_browser(project, &arguments.playwright_arguments)?;
    }
    eprintln!("all tests passed");
    Ok(())
}

fn test_in_rust(project: &Project) -> Result<()> {
    process::run("testing the app", cargo::command(project).args(["test", "--features", "ssr"]))?;
    // Apart from the app's tests: together, the two would compile shared crates anew.
    process::run("testing the tools", cargo::command(project).args(["test", "--package", "xtask"]))
}

fn test_in_browser(project: &Project, arguments: &[OsString]) -> Result<()> {
    let tests = BrowserTests::prepare(project)?;

    let debug = build::debug(project, &[], false)?;
    let label = "testing the debug build in a browser";
    let chosen = |projects: [&str; 2]| match arguments {
        [] => projects.map(OsString::from).to_vec(),
        given => given.to_vec(),
    };
    tests.run(label, Mode::Debug, &debug, &chosen(DEBUG_PROJECTS))?;

    dist::dist(project)?;
    let release = Start::dist(project, &[]);
    let label = "testing the release build in a browser";
    tests.run(label, Mode::Release, &release, &chosen(RELEASE_PROJECTS))?;

    let manifest = Manifest::read(&project.site(Mode::Release))
        .context("the release build left no manifest")?;
    size::weigh(project, &manifest)
}
