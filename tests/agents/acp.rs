//! Agents that speak ACP, through a real server and real processes.

mod conduct;
mod golden;
mod lineage;
mod misbehaving;
mod processes;
mod updates;

use tempfile::TempDir;
use throughline::server::agents::acp::AcpSettings;

use super::common::{answer_to, begin, is_alive, stop, until_gone, words};
use crate::fake_agent;
use crate::test_app::TestApp;

/// Starts a server whose usual agent is the fake one.
async fn start() -> TestApp {
    start_with(fake_agent::settings()).await
}

async fn start_with(settings: AcpSettings) -> TestApp {
    let (data, workspace) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    start_on(data, workspace, settings).await
}

async fn start_on(data: TempDir, workspace: TempDir, settings: AcpSettings) -> TestApp {
    TestApp::start_changed(data, workspace, |config| {
        config.agents.entries = vec![fake_agent::entry(settings)];
    })
    .await
}
