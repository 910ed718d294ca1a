//! Models behind a real server on this machine, in the ways in which such servers speak.

mod conduct;
mod problems;
mod tools;

use tempfile::TempDir;
use throughline::server::agents::openai::OpenAiSettings;

use super::common::{answer_to, begin, stop, words};
use crate::fake_model::{self, Dialect, FakeModel};
use crate::test_app::TestApp;

/// Starts a server whose usual agent is a model.
async fn start(dialect: Dialect) -> (TestApp, FakeModel) {
    let model = FakeModel::start(dialect).await;
    (start_with(model.settings()).await, model)
}

async fn start_with(settings: OpenAiSettings) -> TestApp {
    start_on(TempDir::new().unwrap(), TempDir::new().unwrap(), settings).await
}

async fn start_on(data: TempDir, workspace: TempDir, settings: OpenAiSettings) -> TestApp {
    TestApp::start_changed(data, workspace, |config| {
        config.agents.entries = vec![fake_model::entry(settings)];
    })
    .await
}
