//! The command line.

mod data;
mod export;
mod import;
mod journal;
pub mod keeper;
mod leaves;
mod pair;
mod password;
mod resolve;

use std::io::Write;
use std::process::ExitCode;

use anyhow::Context;
use clap::{Parser, Subcommand};
use tokio::net::TcpListener;

use super::Server;
use super::config::{Config, ServeOptions};
use super::telemetry;

/// What shells report of a program that Ctrl-C ended.
const EXIT_INTERRUPTED: i32 = 130;

/// Run many AI-agent conversations in parallel from one browser tab, and never lose the thread.
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    after_help = "Every option can be set by an environment variable instead; \
    `throughline serve --help` names them.\n\nExample:\n  throughline serve --addr 127.0.0.1:8080 --data-dir ~/conversations"
)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Start the app and serve it until Ctrl-C
    Serve(ServeOptions),
    /// Set the password that people sign in with
    Password(password::PasswordOptions),
    /// Print a code that signs a phone in once, within five minutes
    Pair(pair::PairOptions),
    /// Tell which row of a conversation a requested id leads to, as JSON
    Resolve(resolve::ResolveOptions),
    /// List the conversations that nothing goes on from
    Leaves(leaves::LeavesOptions),
    /// List the conversations that an agent had elsewhere, or bring them in
    Import(import::ImportOptions),
    /// Write whole conversations as JSON or Markdown
    Export(export::ExportOptions),
    /// Tell what the turn journal and the conversations do not agree on
    Audit(journal::AuditOptions),
    /// Tell what would be repaired, or repair it
    Repair(journal::RepairOptions),
    /// Care for the turn journal
    #[command(subcommand)]
    Journal(journal::JournalCommand),
    /// Run an agent's program and end it with the server
    #[command(hide = true)]
    Keeper(keeper::KeeperOptions),
}

/// Does what the command line asks for.
pub async fn main(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        Command::Serve(options) => serve(options).await.map(|()| ExitCode::SUCCESS),
        Command::Password(options) => password::run(&options),
        Command::Pair(options) => pair::run(options).await,
        Command::Resolve(options) => Ok(resolve::run(&options)),
        Command::Leaves(options) => leaves::run(options).await,
        Command::Import(options) => import::run(options).await,
        Command::Export(options) => export::run(options).await,
        Command::Audit(options) => journal::audit(options).await,
        Command::Repair(options) => journal::repair(options).await,
        Command::Journal(command) => journal::run(command).await,
        Command::Keeper(options) => Ok(keeper::run(&options)),
    }
}

async fn serve(options: ServeOptions) -> anyhow::Result<()> {
    telemetry::start(&options.log, options.log_format)?;
    let address = options.addr;
    let config = Config::try_from(options)?;
    let listener = TcpListener::bind(address)
        .await
        .with_context(|| format!("{address} cannot be listened on"))?;
    let (data_dir, access) = (config.data_dir.clone(), config.access.clone());
    let server = Server::open(config).await?;
    let address = listener.local_addr()?;
    if let Err(error) = pair::remember_address(&data_dir, &access.public_address(address)) {
        tracing::warn!(%error, "`throughline pair` will have to be told the address");
    }
    let signals = StopSignals::install()?;
    let mut out = std::io::stdout();
    writeln!(out, "Throughline is ready at http://{address}")?;
    out.flush()?;
    server.run(listener, signals.shutdown()).await
}

/// The signals that ask the server to stop: Ctrl-C and, on Unix, SIGTERM.
struct StopSignals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl StopSignals {
    /// Installs the handlers; from here on no signal is missed.
    #[cfg(unix)]
    fn install() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    #[cfg(not(unix))]
    fn install() -> std::io::Result<Self> {
        Ok(Self {})
    }

    #[cfg(unix)]
    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }

    #[cfg(not(unix))]
    async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Waits until the server is asked to stop. Being asked again ends the process at once.
    async fn shutdown(mut self) {
        self.next().await;
        tokio::spawn(async move {
            self.next().await;
            std::process::exit(EXIT_INTERRUPTED);
        });
    }
}
