//! A server over a data directory of its own, gone when the benchmark is.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use tempfile::TempDir;
use throughline::server::Server;
use throughline::server::agents::programs::Programs;
use throughline::server::config::{AccessConfig, AgentsConfig, Config};
use throughline::server::state::Services;

use crate::data::{Filled, fill};

pub struct Scene {
    pub filled: Filled,
    server: Server,
    /// Removed with all that is in it, after the server has gone.
    _folder: TempDir,
}

impl Scene {
    /// Fills a data directory and opens a server over it.
    pub async fn open(sessions: usize, messages: usize) -> Result<Self> {
        let folder = TempDir::new()?;
        let filled = fill(folder.path(), sessions, messages).await?;
        let server = Server::open(config(folder.path())?).await?;
        Ok(Self { filled, server, _folder: folder })
    }

    pub fn services(&self) -> &Services {
        self.server.services()
    }

    /// Closes the store, so that nothing of it is at work during the next measurement.
    pub async fn close(self) {
        self.services().registry.shut_down().await;
        self.services().store.close().await;
    }
}

fn config(folder: &Path) -> Result<Config> {
    Ok(Config {
        data_dir: folder.to_owned(),
        workspace: folder.canonicalize()?,
        site: None,
        demo_pace: Duration::ZERO,
        dev: false,
        access: AccessConfig::default(),
        agents: AgentsConfig::new(Programs::default(), std::env::current_exe()?),
    })
}
