//! The server: everything that touches disk, network, clock or processes.
//!
//! `Server` boots production and tests alike. The way of a request: `router` → a handler in `http`
//! or a function in `api` → a service (`conversations`, `turns`) → `sessions` and `store`.

pub mod agents;
pub mod auth;
pub mod blobs;
pub mod cli;
pub mod config;
pub mod conversations;
pub mod error;
mod http;
pub mod journal;
mod mint;
pub mod resolution;
mod router;
pub mod sessions;
pub mod state;
pub mod store;
pub mod telemetry;
pub mod turns;

use std::future::Future;
use std::time::Duration;

use anyhow::Context;
use tokio::net::TcpListener;

use agents::Agents;
use agents::demo::Demo;
use blobs::Blobs;
use config::Config;
use http::assets::Assets;
use sessions::Registry;
use state::{AppState, Services};
use store::Store;

use crate::domain::time::Timestamp;

/// How long open requests have to end once the server was asked to stop.
const DRAIN: Duration = Duration::from_secs(5);

/// How long a deleted conversation can be brought back: 30 days.
const DELETED_KEPT_MILLIS: i64 = 30 * 24 * 3600 * 1000;

/// A server whose data is open and mended, ready to listen.
pub struct Server {
    services: Services,
}

impl Server {
    /// Opens the data directory and mends what the last stop cut short.
    pub async fn open(config: Config) -> anyhow::Result<Self> {
        Ok(Self { services: open(config).await? })
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
        let serve = axum::serve(listener, router).with_graceful_shutdown(async move {
            shutdown.await;
            registry.shut_down().await;
            let _ = stopping.send(true);
        });
        tokio::select! {
            served = serve => served.context("the server stopped")?,
            () = async {
                let _ = stopped.wait_for(|stopping| *stopping).await;
                tokio::time::sleep(DRAIN).await;
            } => {}
        }
        self.services.store.close().await;
        Ok(())
    }
}

async fn open(config: Config) -> anyhow::Result<Services> {
    let data_dir = &config.data_dir;
    tokio::fs::create_dir_all(data_dir)
        .await
        .with_context(|| format!("the data directory {} cannot be made", data_dir.display()))?;
    let store = Store::open(data_dir).await?;
    let forget = mint::now().millis() - DELETED_KEPT_MILLIS;
    store.purge_deleted(Timestamp::from_millis(forget)).await?;
    let interrupted = turns::recovery::recover(&store).await?;
    if interrupted > 0 {
        tracing::warn!(interrupted, "answers were cut short by the last stop");
    }
    let blobs = Blobs::open(data_dir).await.context("the folder for attachments cannot be made")?;
    let assets = Assets::load(config.site.as_deref())?;
    let mut agents = Agents::default();
    agents.add(Demo::new(config.demo_pace));
    let registry = Registry::new(store.clone(), blobs.clone(), agents);
    Ok(Services::new(config, store, blobs, registry, assets))
}
