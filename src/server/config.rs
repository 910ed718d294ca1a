//! What can be set from outside, by option or by environment variable of the same name.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

/// Options of `throughline serve`.
#[derive(Debug, Clone, Args)]
pub struct ServeOptions {
    /// Address and port to listen on; only addresses of this machine are accepted for now
    #[arg(
        long,
        env = "THROUGHLINE_ADDR",
        default_value = "127.0.0.1:3000",
        value_name = "ADDRESS"
    )]
    pub addr: SocketAddr,

    /// Where conversations and attachments are kept; made if it does not exist
    #[arg(long, env = "THROUGHLINE_DATA_DIR", default_value_os_t = default_data_dir(), value_name = "FOLDER")]
    pub data_dir: PathBuf,

    /// Folder that new conversations work in unless they name another [default: the current one]
    #[arg(long, env = "THROUGHLINE_WORKSPACE", value_name = "FOLDER")]
    pub workspace: Option<PathBuf>,

    /// Milliseconds between two words of the demo agent
    #[arg(long, env = "THROUGHLINE_DEMO_PACE", default_value_t = 25, value_name = "MS")]
    pub demo_pace: u64,

    /// How log lines look
    #[arg(long, env = "THROUGHLINE_LOG_FORMAT", value_enum, default_value_t = LogFormat::Human)]
    pub log_format: LogFormat,

    /// What is logged, in the syntax of tracing's EnvFilter
    #[arg(
        long,
        env = "THROUGHLINE_LOG",
        default_value = "throughline=info,warn",
        value_name = "FILTER"
    )]
    pub log: String,

    /// Folder with the browser's files, for builds that do not carry them inside
    #[arg(long, env = "THROUGHLINE_SITE", hide = true)]
    pub site: Option<PathBuf>,

    /// Reload open pages when the server starts again
    #[arg(long, env = "THROUGHLINE_DEV", hide = true, num_args = 0..=1, default_missing_value = "1", value_parser = clap::builder::FalseyValueParser::new())]
    pub dev: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    Human,
    Json,
}

/// The settled configuration of a running server.
#[derive(Debug, Clone)]
pub struct Config {
    pub data_dir: PathBuf,
    pub workspace: PathBuf,
    pub site: Option<PathBuf>,
    pub demo_pace: Duration,
    pub dev: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error(
        "{0} can be reached by other machines, and Throughline has no login yet: use 127.0.0.1"
    )]
    NotLoopback(SocketAddr),
    #[error("the folder {folder} cannot be used: {reason}")]
    Workspace { folder: PathBuf, reason: std::io::Error },
}

impl TryFrom<ServeOptions> for Config {
    type Error = ConfigError;

    fn try_from(options: ServeOptions) -> Result<Self, ConfigError> {
        if !options.addr.ip().is_loopback() {
            return Err(ConfigError::NotLoopback(options.addr));
        }
        let folder = options.workspace.unwrap_or_else(|| PathBuf::from("."));
        let workspace =
            folder.canonicalize().map_err(|reason| ConfigError::Workspace { folder, reason })?;
        Ok(Self {
            data_dir: options.data_dir,
            workspace,
            site: options.site,
            demo_pace: Duration::from_millis(options.demo_pace),
            dev: options.dev,
        })
    }
}

/// Follows the XDG base directory rules, and falls back to the current folder.
pub fn default_data_dir() -> PathBuf {
    let from_variable =
        |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    from_variable("XDG_DATA_HOME")
        .or_else(|| Some(from_variable("HOME")?.join(".local").join("share")))
        .map_or_else(|| PathBuf::from("throughline-data"), |base| base.join("throughline"))
}
