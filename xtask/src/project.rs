//! Where things lie, and the two ways in which they are built.

use std::env::{self, consts::EXE_SUFFIX};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The name of the crate, of its binary, and of the files made for the browser.
pub const NAME: &str = "throughline";

/// The target that browsers run.
pub const BROWSER_TARGET: &str = "wasm32-unknown-unknown";

/// For work at the code, or for people.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Debug,
    Release,
}

impl Mode {
    /// Names the mode the way directories and the end-to-end tests do.
    pub fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Release => "release",
        }
    }

    /// Names the Cargo profile of the browser module.
    pub fn browser_profile(self) -> &'static str {
        match self {
            Self::Debug => "browser-dev",
            Self::Release => "browser",
        }
    }
}

/// The checkout this tool works in.
pub struct Project {
    pub root: PathBuf,
    pub target: PathBuf,
}

impl Project {
    /// Finds the checkout: Cargo names this package's directory, which lies right inside it.
    pub fn find() -> Result<Self> {
        let package = env::var_os("CARGO_MANIFEST_DIR")
            .context("start this tool as `cargo xtask`, inside the project")?;
        let Some(root) = Path::new(&package).parent().map(Path::to_path_buf) else {
            bail!("the xtask package lies outside the project");
        };
        let target = match env::var_os("CARGO_TARGET_DIR") {
            Some(directory) => env::current_dir()?.join(directory),
            None => root.join("target"),
        };
        Ok(Self { root, target })
    }

    /// Where the files that the server hands out are put together.
    pub fn site(&self, mode: Mode) -> PathBuf {
        self.target.join("site").join(mode.name())
    }

    /// Where the module and its glue lie before they get their final names.
    pub fn bindings(&self, mode: Mode) -> PathBuf {
        self.target.join("bindings").join(mode.name())
    }

    /// Where Cargo leaves the browser module.
    pub fn compiled_module(&self, mode: Mode) -> PathBuf {
        self.target.join(BROWSER_TARGET).join(mode.browser_profile()).join(format!("{NAME}.wasm"))
    }

    /// Where the part of the browser module lies that every page loads.
    pub fn main_part(&self, mode: Mode) -> PathBuf {
        self.compiled_module(mode).with_file_name(format!("{NAME}_main.wasm"))
    }

    /// Where Cargo leaves the server.
    pub fn compiled_server(&self, mode: Mode) -> PathBuf {
        self.target.join(mode.name()).join(format!("{NAME}{EXE_SUFFIX}"))
    }

    /// Where the one binary for people goes.
    pub fn dist_binary(&self) -> PathBuf {
        self.target.join("dist").join(format!("{NAME}{EXE_SUFFIX}"))
    }

    /// Shortens a path for people: relative to the project where it lies inside.
    pub fn shown<'a>(&self, path: &'a Path) -> std::path::Display<'a> {
        path.strip_prefix(&self.root).unwrap_or(path).display()
    }
}
