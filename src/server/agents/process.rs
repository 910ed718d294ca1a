//! An agent's process: its lines in and out, its last words, and the truth about its end.

mod lines;

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStderr, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::trace::{Trace, head};
use crate::server::cli::keeper::NOT_STARTED;
use crate::server::lock::lock;
use crate::wire::rest::Speaker;

pub use lines::{Line, Lines};

/// How many lines of standard error are kept, and how much of each.
const LAST_WORDS: usize = 20;
const LONGEST_WORD: usize = 400;

/// The longest line of standard error that is read as one.
const LONGEST_STDERR_LINE: usize = 64 << 10;

/// How long a dead process's pipe is read for what it said last.
pub const LAST_LINES: Duration = Duration::from_millis(200);

/// How long a process that closed its output has before its end is told without its exit code.
const GOODBYE: Duration = Duration::from_millis(500);

/// Everything needed to start an agent's program.
#[derive(Debug, Clone)]
pub struct Launch {
    /// This program itself, which keeps the agent's.
    pub keeper: PathBuf,
    pub command: PathBuf,
    pub arguments: Vec<String>,
    pub environment: BTreeMap<String, String>,
    pub folder: PathBuf,
}

/// A process that runs. Dropping the input asks it to leave; its keeper sees to it.
pub struct Process {
    pub input: Input,
    pub output: Lines,
    pub end: End,
}

impl Process {
    pub fn start(launch: &Launch, trace: Trace) -> io::Result<Self> {
        let mut child = Command::new(&launch.keeper)
            .args(["keeper", "--"])
            .arg(&launch.command)
            .args(&launch.arguments)
            .envs(&launch.environment)
            .current_dir(&launch.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let missing = || io::Error::other("it has no pipes");
        let input = Input::start(child.stdin.take().ok_or_else(missing)?);
        let output = Lines::new(child.stdout.take().ok_or_else(missing)?);
        let last_words = LastWords::default();
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let listening = tokio::spawn(last_words.clone().listen(stderr, trace));
        Ok(Self { input, output, end: End { child, last_words, listening } })
    }
}

/// Where lines for a process are handed in; they are written in order and never waited for.
#[derive(Debug, Clone)]
pub struct Input {
    lines: mpsc::UnboundedSender<String>,
}

impl Input {
    fn start(mut stdin: ChildStdin) -> Self {
        let (lines, mut waiting) = mpsc::unbounded_channel::<String>();
        tokio::spawn(async move {
            while let Some(mut line) = waiting.recv().await {
                line.push('\n');
                if stdin.write_all(line.as_bytes()).await.is_err() {
                    return;
                }
            }
        });
        Self { lines }
    }

    /// Hands a line in; one for a process that is gone goes nowhere, as its end is told elsewhere.
    pub fn send(&self, line: String) {
        let _ = self.lines.send(line);
    }
}

/// The end of a process, to be waited for.
pub struct End {
    child: Child,
    last_words: LastWords,
    listening: JoinHandle<()>,
}

impl End {
    /// Waits until the process is gone, and says how it went.
    pub async fn wait(&mut self) -> String {
        let status = self.child.wait().await;
        if !self.listening.is_finished() {
            // Another process may hold the pipe open; it has nothing to say here.
            let _ = tokio::time::timeout(LAST_LINES, &mut self.listening).await;
        }
        self.describe(status.ok())
    }

    /// Waits a moment for a process that closed its output, and says how it went.
    pub async fn wait_briefly(&mut self) -> String {
        let gone = tokio::time::timeout(GOODBYE, self.wait()).await;
        gone.unwrap_or_else(|_| "closed its output".to_owned())
    }

    fn describe(&self, status: Option<ExitStatus>) -> String {
        let mut words = match status.and_then(|status| status.code()) {
            Some(code) if code == i32::from(NOT_STARTED) => "could not be started".to_owned(),
            Some(code) if code > 128 => format!("was ended by signal {}", code - 128),
            Some(code) => format!("ended with exit code {code}"),
            None => "was killed".to_owned(),
        };
        let last = self.last_words.text();
        if !last.is_empty() {
            words.push_str(". Its last words:\n");
            words.push_str(&last);
        }
        words
    }
}

/// The last lines that a process wrote to its standard error.
#[derive(Debug, Clone, Default)]
struct LastWords {
    lines: Arc<Mutex<VecDeque<String>>>,
}

impl LastWords {
    async fn listen(self, stderr: ChildStderr, trace: Trace) {
        let mut lines = Lines::with_limit(stderr, LONGEST_STDERR_LINE);
        loop {
            let line = match lines.next().await {
                Line::Whole(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Line::TooLong => "(a very long line)".to_owned(),
                Line::End => return,
            };
            trace.keep(Speaker::Stderr, &line);
            self.keep(&line);
        }
    }

    fn keep(&self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        let mut lines = lock(&self.lines);
        if lines.len() == LAST_WORDS {
            lines.pop_front();
        }
        lines.push_back(head(line.trim_end(), LONGEST_WORD).to_owned());
    }

    fn text(&self) -> String {
        let lines = lock(&self.lines);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
    }
}
