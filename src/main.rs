//! Reads the command line and does what it asks for.

use clap::Parser;
use throughline::server::cli::{self, Cli};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    cli::main(Cli::parse()).await
}
