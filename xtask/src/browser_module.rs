//! The half that runs in the browser: compiled to WebAssembly, taken apart into what every page
//! needs and what is loaded later, then given its JavaScript glue.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::UNIX_EPOCH;
use std::{env, fs};

use anyhow::{Context, Result, anyhow};
use wasm_bindgen_cli_support::Bindgen;
use wasm_split_cli_support::{Options, transform};

use crate::progress::step;
use crate::project::{BROWSER_TARGET, Mode, NAME, Project};
use crate::{cargo, custom_sections, hash, toolchain};

/// Names what the bindings were made from, so that they are not made twice.
const STAMP: &str = "made-from";

/// Lists the files of each part that is loaded later.
const PARTS: &str = "parts.json";

/// The script that loads the parts.
const LINKS: &str = "./parts.js";

/// Compiles the module and writes it with its glue to the bindings directory.
pub fn build(project: &Project, mode: Mode) -> Result<()> {
    toolchain::ensure_browser_target()?;
    let mut command = cargo::command(project);
    command.args(["build", "--lib", "--package", NAME]);
    command.args(["--target", BROWSER_TARGET]);
    command.args(["--profile", mode.browser_profile()]);
    command.args(["--no-default-features", "--features", "hydrate"]);
    let mut flags = match mode {
        Mode::Debug => toolchain::debug_flags(),
        Mode::Release => toolchain::release_flags(project)?,
    };
    // What tells the parts of the module apart: which code and which data names which other.
    flags.push("\x1f-Clink-arg=--emit-relocs");
    command.env("CARGO_ENCODED_RUSTFLAGS", flags);
    cargo::build("building the browser module", &mut command)?;
    bind(project, mode)
}

/// Reads which files each part consists of that is loaded later.
pub fn parts(project: &Project, mode: Mode) -> Result<BTreeMap<String, Vec<String>>> {
    let parts = fs::read(project.bindings(mode).join(PARTS)).context("the parts are not listed")?;
    Ok(serde_json::from_slice(&parts)?)
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
        split(project, mode)?;
        Bindgen::new()
            .input_path(project.main_part(mode))
            .out_name(NAME)
            .web(true)?
            .typescript(false)
            .omit_default_module_path(false)
            .keep_debug(false)
            // The parts that are loaded later link to these.
            .keep_lld_exports(true)
            .demangle(false)
            .remove_name_section(release)
            .remove_producers_section(release)
            .generate(&directory)
            .context("could not write the glue of the browser module")?;
        fs::write(directory.join(STAMP), &stamp)?;
        Ok(())
    })
}

/// Takes the module apart at the functions that are marked for it.
fn split(project: &Project, mode: Mode) -> Result<()> {
    let (directory, main) = (project.bindings(mode), project.main_part(mode));
    let module = fs::read(project.compiled_module(mode))?;
    let glue = format!("./{NAME}.js");
    let mut options = Options::new(&module);
    options.output_dir = &directory;
    options.main_out_path = &main;
    options.link_name = LINKS;
    options.main_module = &glue;
    let split = transform(options).map_err(|error| anyhow!("{error:?}"))?;
    if mode == Mode::Release {
        for part in &split.split_modules {
            fs::write(part, custom_sections::strip(&fs::read(part)?)?)?;
        }
    }
    let parts: BTreeMap<_, _> = split.prefetch_map.into_iter().collect();
    fs::write(directory.join(PARTS), serde_json::to_string_pretty(&parts)?)?;
    Ok(())
}

/// Joins the module's content and the age of this tool: glue made by an older tool is made anew.
fn stamp(compiled: &Path) -> Result<String> {
    let module =
        fs::read(compiled).context("Cargo did not leave the browser module where expected")?;
    let tool = fs::metadata(env::current_exe()?)?.modified()?;
    let age = tool.duration_since(UNIX_EPOCH)?.as_nanos();
    Ok(format!("{} {age}", hash::short(&module)))
}
