//! What handlers and server functions are given.

use std::sync::Arc;

use axum::extract::FromRef;
use leptos::config::LeptosOptions;

use super::agents::Agents;
use super::auth::Auth;
use super::blobs::Blobs;
use super::config::Config;
use super::data::Data;
use super::error::ServiceError;
use super::folders::Folders;
use super::http::assets::Assets;
use super::sessions::{CommandCache, Registry};
use super::store::Store;
use super::turns::audit::{Auditor, RunningTurns};
use super::turns::committer::Committer;
use super::turns::log::TurnLog;
use crate::wire::error::{Failure, FailureCode};
use crate::wire::recovery::RepairReport;

/// The services of a running server; a clone is cheap and shares all of them.
#[derive(Clone)]
pub struct Services {
    pub config: Arc<Config>,
    pub auth: Auth,
    pub folders: Folders,
    pub store: Store,
    pub blobs: Blobs,
    pub turn_log: TurnLog,
    pub(super) committer: Committer,
    pub(super) commands: CommandCache,
    pub registry: Registry,
    pub(super) assets: Arc<Assets>,
}

impl Services {
    pub(super) fn new(config: Config, data: Data, agents: Agents, assets: Assets) -> Self {
        let Data { store, blobs, turn_log } = data;
        let registry = Registry::new(store.clone(), blobs.clone(), turn_log.clone(), agents);
        let mut roots = vec![config.workspace.clone()];
        roots.extend(config.agents.roots.iter().cloned());
        Self {
            auth: Auth::new(&config, store.clone()),
            folders: Folders::new(roots),
            config: Arc::new(config),
            committer: Committer::spawn(store.clone(), turn_log.clone(), registry.clone()),
            store,
            blobs,
            turn_log,
            commands: CommandCache::default(),
            registry,
            assets: Arc::new(assets),
        }
    }

    /// Looks over the journal of a running server, whose running turns are left alone.
    pub fn auditor(&self) -> Auditor<'_> {
        Auditor {
            store: &self.store,
            log: &self.turn_log,
            blobs: &self.blobs,
            running: RunningTurns::Known(self.turn_log.in_flight()),
        }
    }

    /// Repairs what can be repaired, and shows it in every open list.
    pub async fn repair(&self, apply: bool) -> Result<RepairReport, ServiceError> {
        let report = self.auditor().repair(apply).await?;
        if apply {
            for repair in &report.repairs {
                self.registry.announce(&repair.session_id).await?;
            }
        }
        Ok(report)
    }

    /// Finds the services that the router gave to the page or function under way.
    pub fn from_context() -> Result<Self, Failure> {
        leptos::context::use_context::<Self>().ok_or_else(|| {
            Failure::new(FailureCode::Internal, "Something went wrong on the server.")
        })
    }
}

#[derive(Clone, FromRef)]
pub struct AppState {
    pub services: Services,
    leptos_options: LeptosOptions,
}

impl AppState {
    pub fn new(services: Services) -> Self {
        let leptos_options = LeptosOptions::builder().output_name("throughline").build();
        Self { services, leptos_options }
    }
}
