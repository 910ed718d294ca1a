//! `throughline import`: conversations that an agent had elsewhere.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser};

use super::data::DataOptions;
use crate::domain::list::shown_title;
use crate::domain::session::Session;
use crate::server::Server;
use crate::server::agents::remembered::Remembered;
use crate::server::config::{Config, ServeOptions};
use crate::server::error::ServiceError;
use crate::server::import::{Source, remembered};
use crate::server::state::Services;
use crate::wire::rest::EarlierConversation;

#[derive(Debug, Args)]
pub struct ImportOptions {
    /// The agent that had them, by the id that `throughline.toml` or the app has for it
    agent: String,
    /// The agent's own names for the conversations; without any, those that it remembers are listed
    names: Vec<String>,
    /// Bring in all that the agent remembers
    #[arg(long, conflicts_with = "names")]
    all: bool,
    /// The folder that the conversations were led in [default: the current one]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// File that names agents and allowed folders [default: throughline.toml in the data folder]
    #[arg(long, env = "THROUGHLINE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    data: DataOptions,
}

/// What holds for a server that is told nothing on its command line.
#[derive(Debug, Parser)]
struct Untold {
    #[command(flatten)]
    serve: ServeOptions,
}

/// Lists what an agent remembers, or brings it in. The server must not run meanwhile; in its app
/// the same can be done.
pub async fn run(options: ImportOptions) -> anyhow::Result<ExitCode> {
    let Untold { serve } = Untold::try_parse_from(["throughline"])?;
    let config = Config::try_from(ServeOptions {
        data_dir: options.data.folder().to_owned(),
        workspace: options.folder.clone().or(serve.workspace),
        config: options.config.clone(),
        find_models: false,
        ..serve
    })?;
    let server = Server::open(config).await?;
    let done = work(server.services(), &options).await;
    server.services().registry.shut_down().await;
    server.services().store.close().await;
    done
}

async fn work(services: &Services, options: &ImportOptions) -> anyhow::Result<ExitCode> {
    let mut out = std::io::stdout();
    if options.names.is_empty() && !options.all {
        let known = remembered(services, &options.agent, None).await?;
        known.iter().try_for_each(|it| writeln!(out, "{}", line(it)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let source = Source::find(services, &options.agent, None)?;
    let known = source.remembered().await?;
    let names: Vec<_> = match options.all {
        true => known.iter().map(|it| it.agent_session.as_str()).collect(),
        false => options.names.iter().map(String::as_str).collect(),
    };
    let mut failed = false;
    for name in names {
        match bring_in(services, &source, &known, name).await {
            Ok(row) => writeln!(out, "{}  {}", row.session_id, shown_title(&row.title))?,
            Err(why) => {
                failed = true;
                writeln!(std::io::stderr(), "{name}: {why}")?;
            }
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

async fn bring_in(
    services: &Services,
    source: &Source,
    known: &[Remembered],
    name: &str,
) -> Result<Session, ServiceError> {
    match source.row_here(services, name).await? {
        Some(row) => Ok(row),
        None => source.bring_in(services, known, name).await,
    }
}

fn line(it: &EarlierConversation) -> String {
    let at = it.updated_at.map(|at| at.to_string()).unwrap_or_default();
    let here = if it.session_id.is_some() { "  (here already)" } else { "" };
    format!("{}  {at}  {}{here}", it.agent_session, shown_title(&it.title))
}
