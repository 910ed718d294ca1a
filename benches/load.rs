//! A hundred conversations that all stream, and twenty browsers that look at them.
//!
//! The agents say what time it is, so that each word tells how long it was on its way, the time in
//! which words are gathered into one frame included.

pub mod process;
pub mod reader;

use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use futures::future::try_join_all;
use tempfile::TempDir;

use self::process::Process;
use self::reader::{Heard, Reader};
use crate::measure::{Samples, ratio};
use crate::report::{Report, grouped};

const SESSIONS: usize = 100;
const SOCKETS: usize = 20;

/// Words that each agent says in a run, and the milliseconds between two of them.
const WORDS: usize = 600;
const APART: usize = 20;

/// Words at the beginning of each answer that are not measured: agents start, files are made.
const SETTLING: usize = 100;

/// Lets every session stream, first to twenty readers, then beside one that stopped reading.
pub async fn run(report: &mut Report) -> Result<()> {
    report.begin("load", "100 sessions at 50 words a second, 20 sockets, one real server");
    let folder = TempDir::new()?;
    let server = Process::start(folder.path()).await?;
    let mut sessions = Vec::new();
    for _ in 0..SESSIONS {
        sessions.push(server.new_session().await?);
    }
    let alone = round(report, &server, &sessions, "all read").await?;
    let stopped = Reader::open(&server, &sessions, &sessions).await?;
    let beside = round(report, &server, &sessions, "beside one that stopped").await?;
    drop(stopped);
    report.at_most("p99 from agent to socket", alone.wall(99), Duration::from_millis(50));
    let tails = ratio(beside.wall(99), alone.wall(99));
    report.ratio_at_most("p99 beside a stopped reader : without", tails, 1.5);
    Ok(())
}

/// Lets every session answer once, and checks that its reader got every word of it.
async fn round(
    report: &mut Report,
    server: &Process,
    sessions: &[String],
    size: &str,
) -> Result<Samples> {
    let mut readers = Vec::new();
    for looked_at in sessions.chunks(SESSIONS / SOCKETS) {
        readers.push(Reader::open(server, sessions, looked_at).await?);
    }
    let (cpu, memory, started) = (server.cpu()?, server.memory()?, Instant::now());
    let prompt = format!("[[clock {WORDS} {APART}]]");
    try_join_all(sessions.iter().map(|session| server.submit(session, &prompt))).await?;
    let reading = readers.into_iter().map(|reader| tokio::spawn(reader.until_ended()));
    let mut heard = Vec::new();
    for reader in try_join_all(reading).await? {
        heard.extend(reader?);
    }
    let (cpu, busy) = (server.cpu()?.saturating_sub(cpu), started.elapsed());
    let grown = server.memory()?.saturating_sub(memory);
    let lost = missing(server, &heard).await?;
    let mut samples = Samples::default();
    let count = u32::try_from(SESSIONS * WORDS)?;
    samples.add(heard.iter().flat_map(|heard| heard.delays(SETTLING)), cpu / count);
    let note = format!(
        "{:.2} % of a core and {} kB more memory a session; {} frames",
        cpu.as_secs_f64() / busy.as_secs_f64() / SESSIONS as f64 * 100.0,
        grown / SESSIONS as u64 / 1024,
        grouped(heard.iter().map(|heard| heard.frames).sum()),
    );
    report.measured("from agent to socket", size, &samples, &note);
    report.ratio_at_most(&format!("words lost, {size}"), lost as f64, 0.0);
    Ok(samples)
}

/// Counts the words that did not arrive, or arrived otherwise than they are stored.
async fn missing(server: &Process, heard: &[Heard]) -> Result<usize> {
    if heard.len() != SESSIONS {
        bail!("{} of {SESSIONS} sessions were heard", heard.len());
    }
    let mut missing = 0;
    for heard in heard {
        let stored = server.last_answer(&heard.session).await?;
        let words = heard.text.split(' ').count();
        missing += WORDS.saturating_sub(words) + usize::from(heard.text != stored);
    }
    Ok(missing)
}
