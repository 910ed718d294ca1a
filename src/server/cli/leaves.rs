//! `throughline leaves`: the conversations that nothing goes on from.

use std::io::Write;
use std::process::ExitCode;

use clap::Args;
use serde_json::json;

use super::data::DataOptions;
use crate::domain::list::{newest_first, shown_title};
use crate::domain::session::Session;
use crate::server::store::{ListCursor, Store, StoreError};
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
    let store = Store::open_read_only(options.data.existing()?).await?;
    let sessions = leaves(&store, options.include_forks).await?;
    store.close().await;
    let mut out = std::io::stdout().lock();
    if options.json {
        writeln!(out, "{}", json!({ "sessions": sessions }))?;
    } else {
        for row in &sessions {
            let title = shown_title(&row.title);
            writeln!(out, "{}  {}  {title}", row.session_id, row.last_activity_at)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn leaves(store: &Store, include_forks: bool) -> Result<Vec<Session>, StoreError> {
    let page = async |after: Option<&ListCursor>| {
        store.list_sessions(ListView::Leaves, after, BATCH).await
    };
    let mut all = all_pages(page).await?;
    if include_forks {
        let page = async |after: Option<&ListCursor>| store.fork_points(after, BATCH).await;
        all.extend(all_pages(page).await?);
    }
    all.sort_by(newest_first);
    Ok(all)
}

/// Reads page after page until there is none.
async fn all_pages(
    page: impl AsyncFn(Option<&ListCursor>) -> Result<Vec<Session>, StoreError>,
) -> Result<Vec<Session>, StoreError> {
    let mut all = Vec::new();
    loop {
        let after = all.last().map(ListCursor::after);
        let more = page(after.as_ref()).await?;
        if more.is_empty() {
            return Ok(all);
        }
        all.extend(more);
    }
}
