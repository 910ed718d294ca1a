use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

use anyhow::{Context, Result};

use crate::browser_tests::BrowserTests;
use crate::commands::build;
use crate::process;
use crate::project::{Mode, Project};

/// Where the packages of agents are kept between two runs.
const FOLDER: &str = "THROUGHLINE_AGENTS";

/// Agents that run everywhere, with a Node of their own for those that need a newer one.
const PACKAGES: [&str; 4] = [
    "@aaif/goose-binary-linux-x64",
    "@agentclientprotocol/codex-acp",
    "@earendil-works/pi-coding-agent",
    "node@22",
];

/// Agents that are started by the Node of this machine, which must be new enough for them.
const WITH_NEW_NODE: [&str; 2] = ["@agentclientprotocol/claude-agent-acp", "opencode-ai"];

const NEW_NODE: u32 = 22;

/// Install real agents and drive each through Throughline in a browser; needs the npm registry
#[derive(clap::Args)]
pub struct Arguments {
    /// Given to Playwright as they are
    #[arg(last = true)]
    playwright_arguments: Vec<OsString>,
}

/// Installs agents into a folder of their own, and tries each with a model on this machine.
pub fn agents(project: &Project, arguments: &Arguments) -> Result<()> {
    let folder =
        env::var_os(FOLDER).map_or_else(|| project.root.join("target/agents"), PathBuf::from);
    install(&folder)?;
    let tests = BrowserTests::prepare(project)?;
    let built = build::debug(project, &[], false)?;
    let mut all = vec![OsString::from("--config=agents.config.ts")];
    all.extend(arguments.playwright_arguments.iter().cloned());
    let label = "driving real agents";
    tests.run_with(label, Mode::Debug, &built, &all, &[(FOLDER, folder.as_os_str())])
}

fn install(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
    let manifest = folder.join("package.json");
    if !manifest.is_file() {
        fs::write(&manifest, "{ \"private\": true }\n").context("could not write package.json")?;
    }
    let mut packages = PACKAGES.to_vec();
    if node_version().is_some_and(|version| version >= NEW_NODE) {
        packages.extend(WITH_NEW_NODE);
    }
    let is_there = |package: &str| {
        let name = package.trim_end_matches("@22");
        folder.join("node_modules").join(name).join("package.json").is_file()
    };
    if packages.iter().all(|package| is_there(package)) {
        return Ok(());
    }
    process::run(
        "installing agents",
        Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
            .args(&packages)
            .current_dir(folder),
    )
}

fn node_version() -> Option<u32> {
    let version = process::output(Command::new("node").arg("--version")).ok()?;
    version.trim_start_matches('v').split('.').next()?.parse().ok()
}
