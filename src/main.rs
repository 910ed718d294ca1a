//! Reads the command line and does what it asks for.

use std::process::ExitCode;

use clap::Parser;
use throughline::server::cli::{self, Cli};

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    cli::main(Cli::parse()).await
}
