//! What handlers and server functions are given.

use std::sync::Arc;

use axum::extract::FromRef;
use leptos::config::LeptosOptions;

use super::blobs::Blobs;
use super::config::Config;
use super::http::assets::Assets;
use super::sessions::Registry;
use super::store::Store;
use crate::wire::error::{Failure, FailureCode};

/// The services of a running server; a clone is cheap and shares all of them.
#[derive(Clone)]
pub struct Services {
    pub config: Arc<Config>,
    pub store: Store,
    pub blobs: Blobs,
    pub registry: Registry,
    pub(super) assets: Arc<Assets>,
}

impl Services {
    pub(super) fn new(
        config: Config,
        store: Store,
        blobs: Blobs,
        registry: Registry,
        assets: Assets,
    ) -> Self {
        Self { config: Arc::new(config), store, blobs, registry, assets: Arc::new(assets) }
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
