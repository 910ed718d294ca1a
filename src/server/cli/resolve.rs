//! `throughline resolve`: the resolver on rows from a file.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;
use serde::Deserialize;

use crate::domain::lineage::Node;
use crate::domain::resolver::{EntryPoint, Intent, Request, Resolution, resolve};

/// What is not an answer: an unreadable file, like bad usage, has a status of its own.
const UNREADABLE: u8 = 2;

#[derive(Debug, Args)]
pub struct ResolveOptions {
    /// File with the rows: a JSON list, or an object with a list `sessions`
    #[arg(long, value_name = "FILE")]
    rows: PathBuf,

    /// The id that was asked for; leave it out to see what happens when nothing was
    #[arg(long, value_name = "ID")]
    requested: Option<String>,

    /// Look at an earlier part as a record instead of going to the conversation
    #[arg(long)]
    inspect: bool,

    /// Other rows may exist, as for a browser that has loaded only some
    #[arg(long)]
    partial: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RowsFile {
    List(Vec<Node>),
    Page { sessions: Vec<Node> },
}

/// Prints the resolution as one JSON object.
pub fn run(options: &ResolveOptions) -> ExitCode {
    match answer(options).and_then(|answer| Ok(serde_json::to_string(&answer)?)) {
        Ok(answer) => {
            println!("{answer}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("Error: {error:#}");
            ExitCode::from(UNREADABLE)
        }
    }
}

fn answer(options: &ResolveOptions) -> anyhow::Result<Resolution> {
    let file = options.rows.display();
    let text =
        std::fs::read_to_string(&options.rows).with_context(|| format!("{file} cannot be read"))?;
    let rows: RowsFile =
        serde_json::from_str(&text).with_context(|| format!("{file} holds no list of rows"))?;
    let (RowsFile::List(rows) | RowsFile::Page { sessions: rows }) = rows;
    let request = Request {
        id: options.requested.as_deref(),
        entry_point: EntryPoint::DirectOpen,
        intent: if options.inspect { Intent::Inspect } else { Intent::Navigate },
    };
    Ok(resolve(&request, &rows, !options.partial))
}
