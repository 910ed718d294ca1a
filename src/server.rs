//! The server: everything that touches disk, network, clock or processes.
//!
//! `Server` boots production and tests alike. The way of a request: `router` → a handler in `http`
//! or a function in `api` → a service (`conversations`, `turns`) → `sessions` and `store`.

pub mod about;
pub mod agents;
pub mod auth;
pub mod blobs;
pub mod cli;
pub mod config;
pub mod conversations;
pub mod data;
pub mod error;
pub mod export;
pub mod folders;
mod headers;
mod http;
pub mod import;
pub mod journal;
mod listen;
pub mod lists;
mod lock;
mod mint;
pub mod offers;
pub mod resolution;
mod router;
pub mod rows;
pub mod sessions;
pub mod state;
pub mod store;
pub mod telemetry;
pub mod turns;

use std::future::Future;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;

use agents::Agents;
use config::Config;
use data::{Data, DataLock};
use http::assets::Assets;
use state::{AppState, Services};
use turns::recovery::Recovered;

use crate::domain::time::Timestamp;

/// How long open requests have to end once running turns have.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);

/// How long the server may take to stop once it was asked to.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a deleted conversation can be brought back: 30 days.
const DELETED_KEPT_MILLIS: i64 = 30 * 24 * 3600 * 1000;

/// A server whose data is open and mended, ready to listen.
pub struct Server {
    services: Services,
    /// Held until the server is gone.
    _lock: DataLock,
}

impl Server {
    /// Opens the data directory and mends what the last stop cut short.
    pub async fn open(config: Config) -> anyhow::Result<Self> {
        let lock = DataLock::take(&config.data_dir)?;
        let data = Data::open(&config.data_dir).await?;
        Self::open_data(config, lock, data).await
    }

    /// Opens a server over data that is open already, and mends what the last stop cut short.
    pub async fn open_data(config: Config, lock: DataLock, data: Data) -> anyhow::Result<Self> {
        Ok(Self { services: open(config, data).await?, _lock: lock })
    }

    /// Gives what a request is answered with, to those who ask without one.
    pub fn services(&self) -> &Services {
        &self.services
    }

    /// Serves until `shutdown`, then lets running turns and requests come to an orderly end, for no
    /// longer than [`SHUTDOWN_TIMEOUT`].
    pub async fn run(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> anyhow::Result<()> {
        let (phase, phases) = watch::channel(Phase::Serving);
        let registry = self.services.registry.clone();
        let router = router::router(AppState::new(self.services.clone()))?;
        let serve = listen::serve(listener, router, async move {
            shutdown.await;
            phase.send_replace(Phase::Stopping);
            registry.shut_down().await;
            registry.board().stop();
            phase.send_replace(Phase::Draining);
        });
        let orderly_end = async {
            tokio::select! {
                () = serve => {}
                () = timeout_after(phases.clone(), Phase::Draining, DRAIN_TIMEOUT) => {}
            }
            self.services.store.close().await;
        };
        tokio::select! {
            () = orderly_end => {}
            () = timeout_after(phases.clone(), Phase::Stopping, SHUTDOWN_TIMEOUT) => {
                tracing::warn!("some turns could not be saved in time; the next start ends them");
            }
        }
        Ok(())
    }
}

/// How far a server has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Serving,
    /// Running turns are being ended.
    Stopping,
    /// Requests are being ended.
    Draining,
}

/// Returns a while after a server has come to a phase.
async fn timeout_after(mut phases: watch::Receiver<Phase>, phase: Phase, timeout: Duration) {
    // The sender is gone once `serve` is done, which ends the server anyway.
    let _ = phases.wait_for(|reached| *reached >= phase).await;
    tokio::time::sleep(timeout).await;
}

async fn open(config: Config, data: Data) -> anyhow::Result<Services> {
    purge(&data).await?;
    let recovered = turns::recovery::recover(&data.store, &data.turn_log).await?;
    if recovered != Recovered::default() {
        tracing::warn!(?recovered, "the last stop cut turns short");
    }
    let assets = Assets::load(config.site.as_deref())?;
    let agents = Agents::of(&config, &data.blobs);
    let found = agents.clone();
    // Nobody has to wait for a server that may not be there.
    tokio::spawn(async move {
        found.look().await;
        for agent in found.list().iter().filter(|agent| agent.missing.is_none()) {
            tracing::info!(agent = %agent.name, "found");
        }
    });
    Ok(Services::new(config, data, agents, assets))
}

/// Removes for good what was deleted long ago. The journals go first: without their conversations
/// they would be taken for lost ones.
async fn purge(data: &Data) -> anyhow::Result<()> {
    let before = Timestamp::from_millis(mint::now().millis() - DELETED_KEPT_MILLIS);
    for session in data.store.deleted_before(before).await? {
        data.turn_log.blocking(move |journal| journal.remove(&session)).await?;
    }
    Ok(data.store.purge_deleted(before).await?)
}
