//! `throughline leaves`: the conversations that nothing goes on from.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::data::DataOptions;
use crate::domain::list::compare;
use crate::domain::session::Session;
use crate::server::store::{ListCursor, Store};
use crate::wire::list::ListView;

/// How many rows are read at once.
const BATCH: u32 = 500;

#[derive(Debug, Args)]
pub struct LeavesOptions {
    #[command(flatten)]
    data: DataOptions,
    /// Print the rows as JSON, in the form of `getSessionLeaves`
    #[arg(long)]
    json: bool,
    /// List the rows that branches were made of as well
    #[arg(long)]
    include_forks: bool,
}

/// Prints all leaves, newest activity first.
pub async fn run(options: LeavesOptions) -> anyhow::Result<ExitCode> {
    let store = Store::open(options.data.existing()?).await?;
    let sessions = leaves(&store, options.include_forks).await?;
    store.close().await;
    let mut out = std::io::stdout().lock();
    if options.json {
        writeln!(out, "{}", json!({ "sessions": sessions }))?;
    } else {
        for row in &sessions {
            let title = if row.title.is_empty() { "New conversation" } else { &row.title };
            writeln!(out, "{}  {}  {title}", row.session_id, row.last_activity_at)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn leaves(store: &Store, include_forks: bool) -> anyhow::Result<Vec<Session>> {
    let mut all = Vec::new();
    let mut cursor: Option<ListCursor> = None;
    loop {
        let page = store.list_sessions(ListView::Leaves, cursor.as_ref(), BATCH).await?;
        cursor = page.last().map(ListCursor::after);
        all.extend(page);
        if cursor.is_none() {
            break;
        }
    }
    while include_forks {
        let page = store.fork_points(cursor.as_ref(), BATCH).await?;
        cursor = page.last().map(ListCursor::after);
        all.extend(page);
        if cursor.is_none() {
            break;
        }
    }
    all.sort_by(|left, right| compare(left, right, &[]));
    Ok(all)
}
