//! Where log lines go and how they look.

use anyhow::Context;
use tracing_subscriber::EnvFilter;

use super::config::LogFormat;

/// Starts logging to standard error.
pub fn start(filter: &str, format: LogFormat) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(filter)
        .with_context(|| format!("the log filter {filter:?} cannot be understood"))?;
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Human => lines.with_target(false).init(),
        LogFormat::Json => lines.json().init(),
    }
    Ok(())
}
