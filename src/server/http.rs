//! Thin handlers: take a request apart, call a service, put the answer together.

pub mod agents;
pub mod assets;
pub mod dev;
pub mod entry;
pub mod events;
pub mod extract;
pub mod forms;
pub mod lists;
pub mod login;
pub mod recovery;
pub mod rest;
pub mod rpc;
pub mod ws;

use axum::Json;

use super::error::ServiceError;

/// What most handlers give.
type Answer<T> = Result<Json<T>, ServiceError>;
