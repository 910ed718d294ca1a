//! The resolver over stored rows: which session does a requested id lead to?

use super::error::ServiceError;
use super::state::Services;
use crate::domain::ids::SessionId;
use crate::domain::lineage::Node;
use crate::domain::resolver::{EntryPoint, Intent, Request, Resolution, resolve as resolve_among};
use crate::domain::session::Session;

/// Resolves a requested id among the rows of its lineage, which are all that can matter.
pub async fn resolve(
    services: &Services,
    requested: &str,
    entry_point: EntryPoint,
    intent: Intent,
) -> Result<Resolution, ServiceError> {
    Ok(resolve_row(services, requested, entry_point, intent).await?.0)
}

/// Resolves a requested id, and gives the row that it leads to as well.
pub async fn resolve_row(
    services: &Services,
    requested: &str,
    entry_point: EntryPoint,
    intent: Intent,
) -> Result<(Resolution, Option<Session>), ServiceError> {
    let rows = match SessionId::parse(requested) {
        Ok(id) => services.store.lineage_rows(&id).await?,
        Err(_) => Vec::new(),
    };
    let request = Request { id: Some(requested), entry_point, intent };
    let nodes: Vec<_> = rows.iter().map(Node::from).collect();
    let resolution = resolve_among(&request, &nodes, true);
    if !resolution.anomalies.is_empty() {
        tracing::warn!(requested, ?entry_point, anomalies = ?resolution.anomalies, "odd lineage");
    }
    let shown = resolution.session_id.as_ref();
    let row = shown.and_then(|id| rows.into_iter().find(|row| row.session_id == *id));
    Ok((resolution, row))
}
