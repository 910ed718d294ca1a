//! Stands between the server and an agent's process, and ends the whole of it when the server lets
//! go or is gone.
//!
//! The keeper is the one whose standard input the server holds. When that ends, for whatever
//! reason, SIGKILL of the server included, the agent is asked to leave and then made to. Output
//! does not pass through here: the agent inherits it.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use clap::Args;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// How long an agent has to leave after its input ended, and again after it was asked to.
const PATIENCE: Duration = Duration::from_secs(1);

/// The exit code for a program that could not be started.
pub const NOT_STARTED: u8 = 127;

#[derive(Debug, Args)]
pub struct KeeperOptions {
    /// The program to keep, and its arguments
    #[arg(required = true, num_args = 1.., trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

enum News {
    /// The server closed its end, or is gone.
    LetGo,
    Exited,
}

/// Runs a program in a process group of its own until it ends or the server lets go.
pub fn run(options: &KeeperOptions) -> ExitCode {
    let mut child = match start(&options.command) {
        Ok(child) => child,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{}: {error}", options.command.join(" "));
            return ExitCode::from(NOT_STARTED);
        }
    };
    let group = Pid::from_child(&child);
    let (news, arrived) = channel();
    let input = child.stdin.take();
    let let_go = news.clone();
    thread::spawn(move || pass_on(input, &let_go));
    thread::spawn(move || watch(group, &news));
    let_output_end();
    see_out(group, &arrived);
    let _ = kill_process_group(group, Signal::KILL);
    child.wait().map_or(ExitCode::FAILURE, exit_code)
}

fn start(command: &[String]) -> io::Result<Child> {
    let (program, arguments) = command.split_first().ok_or(ErrorKind::InvalidInput)?;
    Command::new(program).args(arguments).stdin(Stdio::piped()).process_group(0).spawn()
}

/// Passes on what the server writes, until it writes no more.
fn pass_on(input: Option<impl Write>, news: &Sender<News>) {
    if let Some(mut input) = input {
        // An agent that does not read any more is no reason to let go of it.
        if io::copy(&mut io::stdin(), &mut input).is_err() {
            let _ = io::copy(&mut io::stdin(), &mut io::sink());
        }
    }
    let _ = news.send(News::LetGo);
}

/// Waits for the program's end without reaping it, so that its number stays its own until its
/// group is ended too.
fn watch(child: Pid, news: &Sender<News>) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(child), options) {}
    let _ = news.send(News::Exited);
}

/// Leaves the output to the agent alone, so that it ends with the agent.
fn let_output_end() {
    if let Ok(nowhere) = File::options().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(&nowhere);
        let _ = rustix::stdio::dup2_stderr(&nowhere);
    }
}

/// Returns when the program has ended, or had every chance to.
fn see_out(group: Pid, news: &Receiver<News>) {
    if let Ok(News::LetGo) = news.recv() {
        if !matches!(news.recv_timeout(PATIENCE), Err(RecvTimeoutError::Timeout)) {
            return;
        }
        let _ = kill_process_group(group, Signal::TERM);
        let _ = news.recv_timeout(PATIENCE);
    }
}

/// Ends as the program did; a signal is told as a shell would.
fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
