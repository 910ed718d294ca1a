//! `throughline export`: whole conversations as JSON or Markdown.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueEnum};

use super::data::DataOptions;
use crate::domain::ids::SessionId;
use crate::server::export::{Format, write_all, write_one};
use crate::server::store::Store;

#[derive(Debug, Args)]
pub struct ExportOptions {
    #[command(flatten)]
    data: DataOptions,
    /// The conversation, by the id of any of its parts
    #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
    id: Option<String>,
    /// All conversations
    #[arg(long)]
    all: bool,
    /// How to write them
    #[arg(long, value_enum, default_value_t = FormatName::Markdown)]
    format: FormatName,
    /// Where to write them, instead of to the terminal
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatName {
    Json,
    Markdown,
}

/// Writes what was asked for; nothing is written where there is no such conversation.
pub async fn run(options: ExportOptions) -> anyhow::Result<ExitCode> {
    let folder = options.data.existing()?;
    let id = options.id.as_deref().map(SessionId::parse).transpose();
    let id = id.context("this is not the id of a conversation")?;
    let store = Store::open_read_only(folder).await?;
    if let Some(id) = &id {
        anyhow::ensure!(store.session(id).await?.is_some(), "there is no conversation {id}");
    }
    let format = match options.format {
        FormatName::Json => Format::Json,
        FormatName::Markdown => Format::Markdown,
    };
    let mut out: Box<dyn Write> = match &options.output {
        Some(path) => {
            let file = File::create(path)
                .with_context(|| format!("{} cannot be written", path.display()))?;
            Box::new(BufWriter::new(file))
        }
        None => Box::new(BufWriter::new(std::io::stdout())),
    };
    match &id {
        Some(id) => write_one(&store, id, format, &mut *out).await?,
        None => write_all(&store, format, &mut *out).await?,
    }
    store.close().await;
    Ok(ExitCode::SUCCESS)
}
