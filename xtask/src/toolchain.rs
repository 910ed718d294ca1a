//! The parts of the Rust toolchain that a fresh machine may lack.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use crate::project::{BROWSER_TARGET, Project};
use crate::{cargo, process};

/// The flags of the project's configuration; flags given to one build take their place.
const PROJECT_FLAGS: [&str; 2] = ["--cfg", "erase_components"];

/// Adds the browser's compile target where it is missing.
pub fn ensure_browser_target() -> Result<()> {
    if sysroot()?.join("lib/rustlib").join(BROWSER_TARGET).is_dir() {
        return Ok(());
    }
    if process::find("rustup").is_none() {
        bail!(
            "this Rust has no {BROWSER_TARGET} target, and without rustup it cannot be added from here. \
             Install Rust with https://rustup.rs, or add that target the way you installed Rust"
        );
    }
    process::run(
        "adding the browser target",
        Command::new("rustup").args(["target", "add", BROWSER_TARGET]),
    )
}

/// Adds the formatter and the linter where they are missing.
pub fn ensure_checkers(project: &Project) -> Result<()> {
    for (tool, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if process::succeeds(cargo::command(project).args([tool, "--version"])) {
            continue;
        }
        if process::find("rustup").is_none() {
            bail!("this Rust has no {component}; add it the way you installed Rust");
        }
        process::run(
            &format!("adding {component}"),
            Command::new("rustup").args(["component", "add", component]),
        )?;
    }
    Ok(())
}

/// Gives the compiler flags of the project's configuration, for builds that add others to them.
pub fn debug_flags() -> OsString {
    let mut flags = inherited_flags();
    flags.extend(PROJECT_FLAGS.map(OsString::from));
    flags.join(&OsString::from("\x1f"))
}

/// Gives compiler flags that keep the builder's own directories out of what is shipped.
///
/// Without them the panic messages name the home directory of whoever built the release.
pub fn release_flags(project: &Project) -> Result<OsString> {
    let mut flags = inherited_flags();
    flags.extend(PROJECT_FLAGS.map(OsString::from));
    let mut remap = |from: &Path, to: &str| {
        let mut flag = OsString::from("--remap-path-prefix=");
        flag.push(from);
        flag.push("=");
        flag.push(to);
        flags.push(flag);
    };
    // Where several prefixes fit, the last one given wins.
    remap(&project.target, "target");
    remap(&project.root, ".");
    remap(&sysroot()?.join("lib/rustlib/src/rust"), "rust");
    if let Some(home) = cargo_home() {
        remap(&home, "cargo");
        // Named after the hosts that packages came from. Sorted: other flags would mean a new build.
        let registries = fs::read_dir(home.join("registry/src"));
        let mut registries =
            registries.map_or(Ok(Vec::new()), Iterator::collect::<Result<_, _>>)?;
        registries.sort_by_key(fs::DirEntry::path);
        for registry in registries {
            remap(&registry.path(), "crates");
        }
    }
    Ok(flags.join(&OsString::from("\x1f")))
}

fn inherited_flags() -> Vec<OsString> {
    let flags = env::var("RUSTFLAGS").unwrap_or_default();
    flags.split_whitespace().map(OsString::from).collect()
}

fn sysroot() -> Result<PathBuf> {
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    process::output(Command::new(compiler).args(["--print", "sysroot"])).map(PathBuf::from)
}

fn cargo_home() -> Option<PathBuf> {
    match env::var_os("CARGO_HOME") {
        Some(home) => Some(PathBuf::from(home)),
        None => env::home_dir().map(|home| home.join(".cargo")),
    }
}
