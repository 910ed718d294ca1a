//! Builds, runs and checks Throughline: `cargo xtask <command>`.
//!
//! `commands/` holds one file a command. The rest are the parts they share:
//! `browser_module` and `server` compile the two faces of the crate, `site` puts together what the
//! server hands out, `css`, `stylesheet` and `minify` make one stylesheet of many files,
//! `toolchain` and `browser_tests` install what a fresh machine lacks.

mod assets;
mod browser_module;
mod browser_tests;
mod cargo;
mod commands;
mod compress;
mod content_type;
mod css;
mod custom_sections;
mod first_page;
mod hash;
mod manifest;
mod minify;
mod process;
mod progress;
mod project;
mod server;
mod service_worker;
mod site;
mod stylesheet;
mod toolchain;
mod watch;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::commands::{agents, bench, build, check, dev, dist, run, size, test};
use crate::project::Project;

/// Build, run and check Throughline.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(run::Arguments),
    Dev(dev::Arguments),
    Build(build::Arguments),
    Test(test::Arguments),
    /// Check formatting, lints for server and browser, and the rules of the house
    Check,
    Bench(bench::Arguments),
    Agents(agents::Arguments),
    /// Build the one release binary that carries everything inside
    Dist,
    /// Weigh what a browser downloads, and fail above the limit
    Size,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let outcome = Project::find().and_then(|project| match arguments.command {
        Command::Run(arguments) => run::run(&project, &arguments),
        Command::Dev(arguments) => dev::dev(&project, &arguments),
        Command::Build(arguments) => build::build(&project, &arguments),
        Command::Test(arguments) => test::test(&project, &arguments),
        Command::Check => check::check(&project),
        Command::Bench(arguments) => bench::bench(&project, &arguments),
        Command::Agents(arguments) => agents::agents(&project, &arguments),
        Command::Dist => dist::dist(&project),
        Command::Size => size::size(&project),
    });
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("failed: {error:#}");
            ExitCode::FAILURE
        }
    }
}
