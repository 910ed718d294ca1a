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

use agents::Agents;
use config::Config;
use data::{Data, DataLock};
use http::assets::Assets;
use journal::Journal;
use state::{AppState, Services};
use turns::recovery::Recovered;

use crate::domain::time::Timestamp;

/// How long open requests have to end once the server was asked to stop.
const DRAIN: Duration = Duration::from_secs(5);

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

    /// Serves until `shutdown`, then lets running turns and requests come to an orderly end.
    pub async fn run(
        self,
        listener: TcpListener,
        shutdown: impl Future<Output = ()> + Send + 'static,
    ) -> anyhow::Result<()> {
        let (stopping, mut stopped) = tokio::sync::watch::channel(false);
        let registry = self.services.registry.clone();
        let router = router::router(AppState::new(self.services.clone()))?;
        let serve = listen::serve(listener, router, async move {
            shutdown.await;
            registry.shut_down().await;
            registry.board().stop();
            let _ = stopping.send(true);
        });
        tokio::select! {
            () = serve => {}
            () = async {
                let _ = stopped.wait_for(|stopping| *stopping).await;
                tokio::time::sleep(DRAIN).await;
            } => {}
        }
        if let Err(error) = self.services.turn_log.blocking(Journal::settle).await {
            tracing::warn!(%error, "the next start brings some lines of the journal home");
        }
        self.services.store.close().await;
        Ok(())
    }
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
    Ok(Services::new(config, data, agents, assets)?)
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
