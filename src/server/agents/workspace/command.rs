//! A shell command that runs in the workspace and never outlives its turn.

use std::future::poll_fn;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::process::{ExitStatus, Stdio};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::process::{Child, ChildStdout, Command};

use crate::server::agents::words::size;

/// How much of a command's output is shown.
const OUTPUT_LIMIT: usize = 64 * 1024;

/// What a command is told of the server's surroundings; the rest may hold secrets, and what a
/// command prints is stored.
const ENVIRONMENT: [&str; 7] = ["PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR"];

/// Runs the command with one pipe for both outputs, so that their order is the command's own.
const BOTH_OUTPUTS: &str = r#"exec sh -c "$1" 2>&1"#;

pub struct Running {
    // Declared first to be dropped first: a child that was stopped is not reaped before its group
    // is killed, so the group's number cannot have passed to another.
    _group: Group,
    child: Child,
    stdout: ChildStdout,
    output: Output,
}

impl Running {
    /// Starts a command in a process group of its own.
    pub fn start(folder: &Path, command: &str) -> io::Result<Self> {
        let mut child = Command::new("sh")
            .args(["-c", BOTH_OUTPUTS, "sh", command])
            .current_dir(folder)
            .env_clear()
            .envs(ENVIRONMENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?))))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = Group(child.id());
        let stdout = child.stdout.take().ok_or_else(|| io::Error::other("it has no output"))?;
        Ok(Self { _group: group, child, stdout, output: Output::default() })
    }

    /// Waits for the next piece of output; `None` says that all of it was shown.
    pub async fn piece(&mut self) -> Option<String> {
        loop {
            if let Some(piece) = self.output.piece() {
                return Some(piece);
            }
            if !self.read().await {
                return self.output.rest();
            }
        }
    }

    /// Reads some output; says whether there was any before the end.
    async fn read(&mut self) -> bool {
        let mut room = [0; 8192];
        let mut bytes = ReadBuf::new(&mut room);
        let read = poll_fn(|context| Pin::new(&mut self.stdout).poll_read(context, &mut bytes));
        let ended = read.await.is_err() || bytes.filled().is_empty();
        self.output.take(bytes.filled());
        !ended
    }

    /// Waits until the command itself is gone.
    pub async fn end(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Stops the command and all that it left behind; gives the output not shown yet.
    pub fn stop(mut self) -> Option<String> {
        self.output.rest()
    }
}

/// The process group of a command, ended with it.
struct Group(Option<u32>);

impl Drop for Group {
    /// Kills the whole group: `kill_on_drop` reaches the shell alone, not what it started. The
    /// shell's own `kill` is used because signalling a group from here would need unsafe code; it
    /// takes a millisecond or two.
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            let _ = std::process::Command::new("sh")
                .args(["-c", &format!("kill -s KILL -- -{group}")])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status();
        }
    }
}

/// Cuts output into pieces by what it says and not by when it came, so that the same command shows
/// the same pieces.
#[derive(Default)]
struct Output {
    held: Vec<u8>,
    shown: usize,
    cut: bool,
    told: bool,
}

impl Output {
    fn take(&mut self, bytes: &[u8]) {
        let room = OUTPUT_LIMIT.saturating_sub(self.shown + self.held.len());
        self.held.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        self.cut = self.cut || bytes.len() > room;
    }

    /// Gives whole lines, at least a thirty-second of what was shown before: the first lines come
    /// one by one, a flood comes in lumps.
    fn piece(&mut self) -> Option<String> {
        let least = self.shown / 32;
        let after = self.held.get(least..)?;
        let end = least + after.iter().position(|byte| *byte == b'\n')? + 1;
        let piece: Vec<u8> = self.held.drain(..end).collect();
        self.shown += piece.len();
        Some(String::from_utf8_lossy(&piece).into_owned())
    }

    /// Gives what is left at the end, once; a last line that is not ended gets its end, so that a
    /// remark can follow.
    fn rest(&mut self) -> Option<String> {
        let mut rest = String::from_utf8_lossy(&std::mem::take(&mut self.held)).into_owned();
        if !rest.is_empty() && !rest.ends_with('\n') {
            rest.push('\n');
        }
        if self.cut && !std::mem::replace(&mut self.told, true) {
            let limit = size(OUTPUT_LIMIT as u64);
            rest.push_str(&format!("… the output is cut after {limit}.\n"));
        }
        (!rest.is_empty()).then_some(rest)
    }
}
