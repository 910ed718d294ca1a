use std::ffi::OsString;

use anyhow::Result;

use crate::browser_tests::BrowserTests;
use crate::commands::dist;
use crate::project::{Mode, Project};
use crate::server::Start;
use crate::{cargo, process};

/// Measure what is promised about speed, in a release build
#[derive(clap::Args)]
pub struct Arguments {
    /// Part of a benchmark's name, and options: `--messages N` for a smaller store, `--json`;
    /// `browser` measures a slowed browser instead, with Playwright's options
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "FILTER")]
    arguments: Vec<OsString>,
}

/// Builds the benchmarks and runs them; a promise that is missed is shown and fails nothing.
pub fn bench(project: &Project, arguments: &Arguments) -> Result<()> {
    match arguments.arguments.split_first() {
        Some((first, rest)) if first == "browser" => bench_browser(project, rest),
        _ => bench_server(project, &arguments.arguments),
    }
}

fn bench_server(project: &Project, arguments: &[OsString]) -> Result<()> {
    let bench = ["bench", "--bench", "bench"];
    let mut build = cargo::command(project);
    cargo::build("building the benchmarks", build.args(bench).arg("--no-run"))?;
    let mut run = cargo::command(project);
    run.args(bench).arg("--quiet").arg("--").args(arguments);
    process::run("measuring", &mut run)
}

fn bench_browser(project: &Project, arguments: &[OsString]) -> Result<()> {
    let tests = BrowserTests::prepare(project)?;
    dist::dist(project)?;
    let own = ["--config", "bench.config.ts"].map(OsString::from);
    let arguments = [&own, arguments].concat();
    tests.run("measuring in a browser", Mode::Release, &Start::dist(project, &[]), &arguments)
}
