//! The half that runs in the browser: compiled to WebAssembly, then given its JavaScript glue.

use std::path::Path;
use std::time::UNIX_EPOCH;
use std::{env, fs};

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

use crate::progress::step;
use crate::project::{BROWSER_TARGET, Mode, NAME, Project};
use crate::{cargo, hash, toolchain};

/// Names what the bindings were made from, so that they are not made twice.
const STAMP: &str = "made-from";

/// Compiles the module and writes it with its glue to the bindings directory.
pub fn build(project: &Project, mode: Mode) -> Result<()> {
    toolchain::ensure_browser_target()?;
    let mut command = cargo::command(project);
    command.args(["build", "--lib", "--package", NAME]);
    command.args(["--target", BROWSER_TARGET]);
    command.args(["--profile", mode.browser_profile()]);
    command.args(["--no-default-features", "--features", "hydrate"]);
    if mode == Mode::Release {
        command.env("CARGO_ENCODED_RUSTFLAGS", toolchain::release_flags(project)?);
    }
    cargo::build("building the browser module", &mut command)?;
    bind(project, mode)
}

fn bind(project: &Project, mode: Mode) -> Result<()> {
    let compiled = project.compiled_module(mode);
    let directory = project.bindings(mode);
    let stamp = stamp(&compiled)?;
    if fs::read_to_string(directory.join(STAMP)).is_ok_and(|made_from| made_from == stamp) {
        return Ok(());
    }
    step("writing its glue", || {
        if directory.exists() {
            fs::remove_dir_all(&directory).context("could not clear the old glue")?;
        }
        let release = mode == Mode::Release;
        Bindgen::new()
            .input_path(&compiled)
            .out_name(NAME)
            .web(true)?
            .typescript(false)
            .omit_default_module_path(false)
            .keep_debug(false)
            .remove_name_section(release)
            .remove_producers_section(release)
            .generate(&directory)
            .context("could not write the glue of the browser module")?;
        fs::write(directory.join(STAMP), &stamp)?;
        Ok(())
    })
}

/// Joins the module's content and the age of this tool: glue made by an older tool is made anew.
fn stamp(compiled: &Path) -> Result<String> {
    let module =
        fs::read(compiled).context("Cargo did not leave the browser module where expected")?;
    let tool = fs::metadata(env::current_exe()?)?.modified()?;
    let age = tool.duration_since(UNIX_EPOCH)?.as_nanos();
    Ok(format!("{} {age}", hash::short(&module)))
}
