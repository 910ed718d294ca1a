//! Runs other programs whose output a person wants to see.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::progress::duration;

/// Runs a program to its end, with its output shown, and fails when it does.
pub fn run(label: &str, command: &mut Command) -> Result<()> {
    eprintln!("{label} …");
    let started = Instant::now();
    let status = command.status().with_context(|| format!("could not start {}", name(command)))?;
    if !status.success() {
        bail!("{label} ({} ended with {status})", name(command));
    }
    eprintln!("{label} … {}", duration(started.elapsed()));
    Ok(())
}

/// Tells whether a program runs and ends well; its output is dropped.
pub fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Reads what a program prints, without the line's end.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("could not start {}", name(command)))?;
    if !output.status.success() {
        bail!("{} ended with {}", name(command), output.status);
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Finds a program on the search path.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|candidate| candidate.is_file())
}

fn name(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned()
}
