//! The agent pi, through a real server and real processes.

mod conduct;
mod golden;
mod misbehaving;

use tempfile::TempDir;

use super::common::{answer_to, begin, is_alive, stop, until_gone, words};
use crate::fake_agent;
use crate::test_app::TestApp;

/// Starts a server whose usual agent is the fake pi.
async fn start() -> TestApp {
    start_on(TempDir::new().unwrap(), TempDir::new().unwrap()).await
}

async fn start_on(data: TempDir, workspace: TempDir) -> TestApp {
    TestApp::start_changed(data, workspace, |config| {
        config.agents.entries = vec![fake_agent::pi_entry(fake_agent::pi())];
    })
    .await
}
