//! Measures what Throughline promises about speed: `cargo xtask bench [FILTER]`.
//!
//! Machines are noisy, so promises are ratios of two things measured in turns in one run, or CPU
//! time. A promise that is missed is printed and fails nothing.

mod data;
mod list;
mod load;
mod measure;
mod recovery;
mod report;
mod resolve;
mod scene;
mod start;
mod submit;

use std::path::PathBuf;

use clap::Parser;

use report::Report;

/// Measure what Throughline promises about speed
#[derive(Parser)]
pub struct Arguments {
    /// Run only the benchmarks whose name contains this: resolve, recovery, submit, load, start, list
    #[arg(default_value = "")]
    filter: String,
    /// How many messages the largest store holds
    #[arg(long, default_value_t = 2_000_000, value_name = "N")]
    messages: usize,
    /// Only fill a folder with the data of 100,000 sessions, for what is measured in a browser
    #[arg(long, value_name = "FOLDER")]
    fill: Option<PathBuf>,
    /// Print one JSON document instead of tables
    #[arg(long)]
    json: bool,
    /// Given by `cargo bench` itself
    #[arg(long, hide = true)]
    bench: bool,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if let Some(folder) = &arguments.fill {
        std::fs::create_dir_all(folder)?;
        data::fill(folder, list::MOST_SESSIONS, 0).await?;
        return Ok(());
    }
    let mut report = Report::new(arguments.json);
    let wanted = |name: &str| name.contains(&arguments.filter);
    if wanted("resolve") {
        resolve::run(&mut report).await?;
    }
    if wanted("recovery") {
        recovery::run(&mut report).await?;
    }
    if wanted("submit") {
        submit::run(&mut report).await?;
    }
    if wanted("load") {
        load::run(&mut report).await?;
    }
    if wanted("start") {
        start::run(&mut report).await?;
    }
    if wanted("list") {
        list::run(&mut report, arguments.messages).await?;
    }
    report.finish()
}
