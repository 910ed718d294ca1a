//! Runs Cargo: quietly for builds (only warnings and errors are shown), openly for the rest.

use std::env;
use std::ffi::OsString;
use std::io::{self, BufReader, IsTerminal, Read};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::progress::Step;
use crate::project::Project;

/// What Cargo says about its own work, as opposed to about the code.
const STATUS_WORDS: [&str; 14] = [
    "Adding",
    "Blocking",
    "Building",
    "Checking",
    "Compiling",
    "Dirty",
    "Downloaded",
    "Downloading",
    "Finished",
    "Fresh",
    "Installing",
    "Locking",
    "Removing",
    "Updating",
];

/// Prepares a Cargo call in the project's root.
pub fn command(project: &Project) -> Command {
    let program = env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.current_dir(&project.root);
    // Set by the `cargo run` that started this tool; they speak of the wrong package.
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    // Only the release build asks for embedded assets, and it says so itself.
    command.env_remove("THROUGHLINE_EMBED");
    command
}

/// Runs a Cargo build as one step; shows warnings and errors once it has ended.
pub fn build(label: &str, command: &mut Command) -> Result<()> {
    let color = if io::stderr().is_terminal() { "always" } else { "never" };
    let step = Step::start(label);
    let outcome = command
        .env("CARGO_TERM_COLOR", color)
        .env("CARGO_TERM_PROGRESS_WHEN", "always")
        .env("CARGO_TERM_PROGRESS_WIDTH", "80")
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .context("could not start cargo")
        .and_then(|mut child| {
            let messages = match child.stderr.take() {
                Some(output) => follow(output, &step)?,
                None => String::new(),
            };
            Ok((messages, child.wait()?))
        });
    match outcome {
        Ok((messages, status)) if status.success() => {
            step.finish();
            eprint!("{messages}");
            Ok(())
        }
        Ok((messages, _)) => {
            step.fail();
            eprint!("{messages}");
            bail!("{label}");
        }
        Err(error) => {
            step.fail();
            Err(error)
        }
    }
}

/// Turns Cargo's status lines into notes on the step, and keeps everything else.
fn follow(output: impl Read, step: &Step) -> io::Result<String> {
    let mut kept = String::new();
    let mut line = Vec::new();
    for byte in BufReader::new(output).bytes() {
        let byte = byte?;
        line.push(byte);
        if byte != b'\n' && byte != b'\r' {
            continue;
        }
        let text = String::from_utf8_lossy(&line).into_owned();
        let plain = without_colors(&text);
        let first_word = plain.split_whitespace().next().unwrap_or_default();
        if let Some(count) = progress(&plain) {
            step.note(count);
        } else if first_word == "Blocking" {
            step.note(String::from("(waiting for another cargo to finish)"));
        } else if !STATUS_WORDS.contains(&first_word) && byte == b'\n' {
            kept.push_str(&text);
        }
        line.clear();
    }
    Ok(kept)
}

/// Reads `12/345` from `Building [==>   ] 12/345: name`.
fn progress(line: &str) -> Option<String> {
    let (_, behind) = line.trim_start().strip_prefix("Building [")?.split_once("] ")?;
    let (count, _) = behind.split_once(':').unwrap_or((behind, ""));
    let (done, total) = count.trim().split_once('/')?;
    Some(format!("({done} of {total} crates)"))
}

fn without_colors(text: &str) -> String {
    let mut plain = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        if character == '\x1b' {
            characters.by_ref().find(char::is_ascii_alphabetic);
        } else {
            plain.push(character);
        }
    }
    plain
}
