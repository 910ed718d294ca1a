use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

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
    run_benchmarks(project, "measuring", arguments)
}

/// Fills a folder with the data of many sessions, as the benchmarks of the server do.
fn fill(project: &Project) -> Result<PathBuf> {
    let folder = project.target.join("tmp").join("browser-bench-data");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let arguments = ["--fill".into(), folder.clone().into_os_string()];
    run_benchmarks(project, "making many sessions", &arguments)?;
    Ok(folder)
}

fn run_benchmarks(project: &Project, label: &str, arguments: &[OsString]) -> Result<()> {
    let bench = ["bench", "--bench", "bench"];
    let mut build = cargo::command(project);
    cargo::build("building the benchmarks", build.args(bench).arg("--no-run"))?;
    let mut run = cargo::command(project);
    run.args(bench).arg("--quiet").arg("--").args(arguments);
    process::run(label, &mut run)
}

fn bench_browser(project: &Project, arguments: &[OsString]) -> Result<()> {
    let tests = BrowserTests::prepare(project)?;
    let data = fill(project)?;
    dist::dist(project)?;
    let tests = tests.with("THROUGHLINE_BENCH_DATA", &data);
    let own = ["--config", "bench.config.ts"].map(OsString::from);
    let arguments = [&own, arguments].concat();
    tests.run("measuring in a browser", Mode::Release, &Start::dist(project, &[]), &arguments)
}
