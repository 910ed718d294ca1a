//! What the turn journal tells after a crash.

use leptos::prelude::*;
use leptos::server_fn::codec::Post;

use crate::wire::error::Failure;
use crate::wire::recovery::RecoveryPage;
use crate::wire::text_json::TextJson;

/// Compares the journal with the conversations, after repairing what can be, where that is asked.
#[server(name = Recover, prefix = "/fn", endpoint = "recovery", input = Post<TextJson>, output = Post<TextJson>)]
pub async fn recovery(repair: bool) -> Result<RecoveryPage, Failure> {
    use crate::server::{error::ServiceError, state::Services};
    let services = Services::from_context()?;
    if repair {
        services.repair(true).await.map_err(ServiceError::tell)?;
    }
    let report = services.auditor().audit().await.map_err(ServiceError::from);
    report.map(RecoveryPage::from).map_err(ServiceError::tell)
}
