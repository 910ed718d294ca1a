//! The resolver over stored rows: which session does a requested id lead to?

use super::error::ServiceError;
use super::state::Services;
use crate::domain::ids::SessionId;
use crate::domain::lineage::Node;
use crate::domain::resolver::{EntryPoint, Intent, Request, Resolution, resolve as resolve_among};

/// Resolves a requested id among the rows of its lineage, which are all that can matter.
pub async fn resolve(
    services: &Services,
    requested: &str,
    entry_point: EntryPoint,
    intent: Intent,
) -> Result<Resolution, ServiceError> {
    let request = Request { id: Some(requested), entry_point, intent };
    let rows = match SessionId::parse(requested) {
        Ok(id) => services.store.lineage_rows(&id).await?,
        Err(_) => Vec::new(),
    };
    let nodes: Vec<_> = rows.iter().map(Node::from).collect();
    let resolution = resolve_among(&request, &nodes, true);
    if !resolution.anomalies.is_empty() {
        tracing::warn!(requested, ?entry_point, anomalies = ?resolution.anomalies, "odd lineage");
    }
    Ok(resolution)
}
