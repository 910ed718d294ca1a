//! What a server costs that has just been started, and one with a hundred open conversations.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tempfile::TempDir;

use crate::load::process::Process;
use crate::load::reader::Reader;
use crate::measure::Samples;
use crate::report::Report;

const STARTS: usize = 10;
const SESSIONS: usize = 100;

/// How long a server has nothing to do before its memory counts as that of one at rest.
const REST: Duration = Duration::from_secs(2);

/// Starts the server again and again, then lets a hundred conversations be open.
pub async fn run(report: &mut Report) -> Result<()> {
    report.begin("start", "a process of its own: until its first page, and its memory");
    let folder = TempDir::new()?;
    // The first one makes the data directory, which is done once in a lifetime.
    drop(first_page(folder.path()).await?);
    let mut starts = Samples::default();
    for _ in 0..STARTS {
        let (server, took) = first_page(folder.path()).await?;
        starts.add([took], server.cpu()?);
    }
    report.measured("from spawn to the first page", "", &starts, "");
    report.at_most("from spawn to the first page", starts.wall(50), Duration::from_millis(500));

    let (server, _) = first_page(folder.path()).await?;
    tokio::time::sleep(REST).await;
    let idle = server.memory()?;
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        let session = server.new_session().await?;
        server.submit(&session, "[[long 5]]").await?;
        sessions.push(session);
    }
    let reader = Reader::open(&server, &sessions, &sessions).await?;
    for session in &sessions {
        server.until_answered(session).await?;
    }
    tokio::time::sleep(REST).await;
    let open = server.memory()?;
    drop(reader);
    report.note(&format!(
        "memory at rest: {}; with {SESSIONS} open conversations: {}, {} kB each",
        megabytes(idle),
        megabytes(open),
        open.saturating_sub(idle) / SESSIONS as u64 / 1024,
    ));
    Ok(())
}

/// Starts a server and measures how long its first page takes to come.
async fn first_page(data: &Path) -> Result<(Process, Duration)> {
    let started = Instant::now();
    let server = Process::start(data).await?;
    let page = reqwest::get(&server.base).await?;
    ensure!(page.status().is_success(), "the first page is {}", page.status());
    page.bytes().await?;
    Ok((server, started.elapsed()))
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
