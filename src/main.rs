//! Reads the command line and does what it asks for.

use std::process::ExitCode;

use clap::Parser;
use throughline::server::cli::{self, Cli};
use tokio::runtime::Runtime;

fn main() -> anyhow::Result<ExitCode> {
    let cli = Cli::parse();
    let runtime = Runtime::new()?;
    let done = runtime.block_on(cli::main(cli));
    // A thread that waits for a disk which does not answer must not keep the process alive.
    runtime.shutdown_background();
    done
}
