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

/// The agents, and a Node that is new enough for all of them.
const PACKAGES: [&str; 6] = [
    "@aaif/goose-binary-linux-x64",
    "@agentclientprotocol/codex-acp",
    "@earendil-works/pi-coding-agent",
    "@agentclientprotocol/claude-agent-acp",
    "opencode-ai",
    "node@22",
];

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
    let path = path_with(&folder.join("node_modules/node/bin"))?;
    let environment = [(FOLDER, folder.as_os_str()), ("PATH", path.as_os_str())];
    tests.run_with(label, Mode::Debug, &built, &all, &environment)
}

/// Gives the folders that programs are looked for in, with another before them.
fn path_with(first: &Path) -> Result<OsString> {
    let known = env::var_os("PATH").unwrap_or_default();
    let all = [first.to_owned()].into_iter().chain(env::split_paths(&known));
    env::join_paths(all).context("the path of programs cannot be written down")
}

fn install(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
    let manifest = folder.join("package.json");
    if !manifest.is_file() {
        fs::write(&manifest, "{ \"private\": true }\n").context("could not write package.json")?;
    }
    let is_there = |package: &str| {
        let name = package.trim_end_matches("@22");
        folder.join("node_modules").join(name).join("package.json").is_file()
    };
    if PACKAGES.iter().all(|package| is_there(package)) {
        return Ok(());
    }
    process::run(
        "installing agents",
        Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--loglevel=error"])
            .args(PACKAGES)
            .current_dir(folder),
    )
}
