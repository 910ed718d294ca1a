//! `throughline password`: what people sign in with.

use std::io::{self, BufRead, IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, ensure};
use clap::Args;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};

use super::data::DataOptions;
use crate::server::auth::password::PasswordFile;
use crate::server::data::make_folder;

#[derive(Debug, Args)]
pub struct PasswordOptions {
    #[command(flatten)]
    data: DataOptions,
    /// Take the password away instead of setting one
    #[arg(long)]
    remove: bool,
}

/// Asks for a password and stores its hash.
pub fn run(options: &PasswordOptions) -> anyhow::Result<ExitCode> {
    let folder = options.data.folder();
    let file = PasswordFile::of(folder);
    let mut out = io::stdout();
    if options.remove {
        let words = if file.remove()? { "The password is gone." } else { "There was no password." };
        writeln!(out, "{words}")?;
        return Ok(ExitCode::SUCCESS);
    }
    make_folder(folder).with_context(|| format!("{} cannot be used", folder.display()))?;
    let password = ask("New password: ")?;
    if io::stdin().is_terminal() {
        ensure!(ask("Once more: ")? == password, "These were two different passwords.");
    }
    file.set(&password)?;
    writeln!(
        out,
        "The password is set. A server that runs without a login asks for it after a restart."
    )?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a line, which a terminal does not show.
fn ask(words: &str) -> anyhow::Result<String> {
    let stdin = io::stdin();
    let mut line = String::new();
    let shown = tcgetattr(&stdin).ok();
    if let Some(shown) = &shown {
        eprint!("{words}");
        let mut hidden = shown.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&stdin, OptionalActions::Now, &hidden)?;
    }
    let read = stdin.lock().read_line(&mut line);
    if let Some(shown) = &shown {
        tcsetattr(&stdin, OptionalActions::Now, shown)?;
        eprintln!();
    }
    read.context("no password was given")?;
    Ok(line.trim_end_matches(['\r', '\n']).to_owned())
}
