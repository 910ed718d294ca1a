//! What the turn journal tells after a crash.

use leptos::prelude::*;
use leptos::server_fn::codec::Post;

use crate::wire::error::Failure;
use crate::wire::recovery::{AuditReport, RepairReport};
use crate::wire::text_json::TextJson;

/// Compares the journal with the conversations.
#[server(name = Audit, prefix = "/fn", endpoint = "audit", input = Post<TextJson>, output = Post<TextJson>)]
pub async fn audit() -> Result<AuditReport, Failure> {
    use crate::server::{error::ServiceError, state::Services};
    let services = Services::from_context()?;
    let report = services.auditor().audit().await.map_err(ServiceError::from);
    report.map_err(ServiceError::tell)
}

/// Repairs what can be repaired without guessing.
#[server(name = RepairAll, prefix = "/fn", endpoint = "repair", input = Post<TextJson>, output = Post<TextJson>)]
pub async fn repair() -> Result<RepairReport, Failure> {
    use crate::server::{error::ServiceError, state::Services};
    let services = Services::from_context()?;
    services.repair(true).await.map_err(ServiceError::tell)
}
