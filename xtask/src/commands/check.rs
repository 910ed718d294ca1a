use anyhow::Result;

use crate::project::{BROWSER_TARGET, Project};
use crate::{cargo, process, toolchain};

/// Checks formatting, lints and the rules of the house.
pub fn check(project: &Project) -> Result<()> {
    toolchain::ensure_checkers(project)?;
    toolchain::ensure_browser_target()?;
    let run = |label: &str, arguments: &[&str]| {
        process::run(label, cargo::command(project).args(arguments))
    };
    run("checking the formatting", &["fmt", "--all", "--check"])?;
    run(
        "linting the server and the tools",
        &["clippy", "--workspace", "--all-targets", "--features", "ssr", "--", "-Dwarnings"],
    )?;
    run(
        "linting the browser module",
        &[
            "clippy",
            "--lib",
            "--target",
            BROWSER_TARGET,
            "--no-default-features",
            "--features",
            "hydrate",
            "--",
            "-Dwarnings",
        ],
    )?;
    run("checking the rules of the house", &["test", "--test", "suite", "tidy"])
}
