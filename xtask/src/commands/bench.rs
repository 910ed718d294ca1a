use std::ffi::OsString;

use anyhow::Result;

use crate::project::Project;
use crate::{cargo, process};

/// Measure what is promised about speed, in a release build
#[derive(clap::Args)]
pub struct Arguments {
    /// Part of a benchmark's name, and options: `--messages N` for a smaller store, `--json`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "FILTER")]
    arguments: Vec<OsString>,
}

/// Builds the benchmarks and runs them; a promise that is missed is shown and fails nothing.
pub fn bench(project: &Project, arguments: &Arguments) -> Result<()> {
    let bench = ["bench", "--bench", "bench"];
    let mut build = cargo::command(project);
    cargo::build("building the benchmarks", build.args(bench).arg("--no-run"))?;
    let mut run = cargo::command(project);
    run.args(bench).arg("--quiet").arg("--").args(&arguments.arguments);
    process::run("measuring", &mut run)
}
