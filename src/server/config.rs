//! What can be set from outside, by option or by environment variable of the same name.

mod access;
mod file;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::agents::acp::AcpSettings;
use super::agents::openai::OpenAiSettings;
use super::agents::pi::PiSettings;
use super::agents::programs::Programs;
use super::agents::{DEMO, presets};

pub use access::{AccessConfig, AccessOptions};

/// How long an agent's process may do nothing before it is let go, unless the file says otherwise.
const IDLE_AFTER: Duration = Duration::from_secs(15 * 60);

/// Options of `throughline serve`.
#[derive(Debug, Clone, Args)]
pub struct ServeOptions {
    /// Address and port to listen on; one that other machines can reach needs a password or a token
    #[arg(
        long,
        env = "THROUGHLINE_ADDR",
        default_value = "127.0.0.1:3000",
        value_name = "ADDRESS"
    )]
    pub addr: SocketAddr,

    #[command(flatten)]
    pub access: AccessOptions,

    /// Where conversations and attachments are kept; made if it does not exist
    #[arg(long, env = "THROUGHLINE_DATA_DIR", default_value_os_t = default_data_dir(), value_name = "FOLDER")]
    pub data_dir: PathBuf,

    /// Folder that new conversations work in unless they name another [default: the current one]
    #[arg(long, env = "THROUGHLINE_WORKSPACE", value_name = "FOLDER")]
    pub workspace: Option<PathBuf>,

    /// File that names agents and allowed folders [default: throughline.toml in the data folder]
    #[arg(long, env = "THROUGHLINE_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// Agent of conversations that name none [default: the first that is there]
    #[arg(long, env = "THROUGHLINE_AGENT", value_name = "ID")]
    pub agent: Option<String>,

    /// Whether to look for model servers at their usual ports on this machine
    #[arg(long, env = "THROUGHLINE_FIND_MODELS", default_value_t = true, action = clap::ArgAction::Set, value_name = "YES")]
    pub find_models: bool,

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
    pub access: AccessConfig,
    pub agents: AgentsConfig,
}

/// Which agents there are, where they may work, and what their processes need.
#[derive(Debug, Clone)]
pub struct AgentsConfig {
    /// Folders besides the workspace that conversations may work in, by their true paths.
    pub roots: Vec<PathBuf>,
    pub entries: Vec<AgentEntry>,
    /// The agent of conversations that name none.
    pub usual: Option<String>,
    pub programs: Programs,
    /// This program, which stands between the server and each agent's process.
    pub keeper: PathBuf,
    pub idle_after: Duration,
}

#[derive(Debug, Clone)]
pub struct AgentEntry {
    pub id: String,
    pub kind: AgentKind,
    /// Where its conversations work unless they name another folder.
    pub folder: Option<PathBuf>,
}

#[derive(Debug, Clone)]
pub enum AgentKind {
    Acp(AcpSettings),
    Pi(PiSettings),
    OpenAi(OpenAiSettings),
    Demo,
    Off,
}

impl AgentsConfig {
    /// Knows the agents that are known by name, and looks for programs in the given folders.
    pub fn new(programs: Programs, keeper: PathBuf) -> Self {
        let pi = AgentKind::Pi(presets::pi());
        let acp = presets::all().map(|settings| (settings.id.clone(), AgentKind::Acp(settings)));
        let entries = acp.chain([(presets::PI.to_owned(), pi)]).map(|(id, kind)| AgentEntry {
            id,
            kind,
            folder: None,
        });
        Self {
            roots: Vec::new(),
            entries: entries.collect(),
            usual: None,
            programs,
            keeper,
            idle_after: IDLE_AFTER,
        }
    }

    /// Looks for model servers at their usual places as well.
    pub fn look_for_model_servers(&mut self) {
        self.entries.extend(presets::model_servers().map(|settings| AgentEntry {
            id: settings.id.clone(),
            kind: AgentKind::OpenAi(settings),
            folder: None,
        }));
    }

    /// Checks that the agent of conversations that name none is one that there is.
    fn check_usual(&self) -> Result<(), ConfigError> {
        let off = |id: &str| {
            let entry = self.entries.iter().find(|entry| entry.id == id);
            entry.map_or(id != DEMO, |entry| matches!(entry.kind, AgentKind::Off))
        };
        match &self.usual {
            Some(id) if off(id) => Err(ConfigError::NoSuchAgent(id.clone())),
            _ => Ok(()),
        }
    }

    /// Reads a file over what holds without it.
    pub fn read_file(&mut self, file: &Path) -> Result<(), ConfigError> {
        let text = std::fs::read_to_string(file)
            .map_err(|reason| ConfigError::Unreadable { file: file.to_owned(), reason })?;
        Ok(file::read(file, &text, self)?)
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error(
        "others could reach a server at {0} under these options, so it needs a login: set a password \
         with `throughline password`, or a token with THROUGHLINE_TOKEN"
    )]
    NoLogin(SocketAddr),
    #[error("the folder {folder} cannot be used: {reason}")]
    Workspace { folder: PathBuf, reason: std::io::Error },
    #[error("{file} cannot be read: {reason}")]
    Unreadable { file: PathBuf, reason: std::io::Error },
    #[error(transparent)]
    File(#[from] file::FileError),
    #[error("there is no agent named {0:?}: see docs/configuration.md for those known by name")]
    NoSuchAgent(String),
    #[error("this program does not know where it is: {0}")]
    Lost(std::io::Error),
}

impl TryFrom<ServeOptions> for Config {
    type Error = ConfigError;

    fn try_from(options: ServeOptions) -> Result<Self, ConfigError> {
        let access = AccessConfig::settle(options.access, options.addr, &options.data_dir)?;
        let folder = options.workspace.unwrap_or_else(|| PathBuf::from("."));
        let workspace =
            folder.canonicalize().map_err(|reason| ConfigError::Workspace { folder, reason })?;
        let programs = Programs::new(std::env::var_os("PATH"));
        let keeper = std::env::current_exe().map_err(ConfigError::Lost)?;
        let mut agents = AgentsConfig::new(programs, keeper);
        if options.find_models {
            agents.look_for_model_servers();
        }
        let usual = options.data_dir.join(file::FILE_NAME);
        if let Some(file) = options.config.or_else(|| usual.is_file().then_some(usual)) {
            agents.read_file(&file)?;
        }
        agents.usual = options.agent;
        agents.check_usual()?;
        Ok(Self {
            agents,
            data_dir: options.data_dir,
            workspace,
            site: options.site,
            demo_pace: Duration::from_millis(options.demo_pace),
            dev: options.dev,
            access,
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
