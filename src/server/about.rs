//! What the settings page tells about the server.

use super::auth::SignedIn;
use super::error::ServiceError;
use super::state::Services;
use crate::wire::rest::{About, DeviceInfo};

/// Tells what the settings page shows of the server.
pub async fn about(services: &Services, who: Option<SignedIn>) -> Result<About, ServiceError> {
    Ok(About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        data_dir: services.config.data_dir.display().to_string(),
        workspace: services.config.workspace.display().to_string(),
        agents: services.registry.agents().list(),
        devices: devices(services, who).await?,
    })
}

/// Lists the devices that are signed in, where anyone must be.
async fn devices(
    services: &Services,
    who: Option<SignedIn>,
) -> Result<Vec<DeviceInfo>, ServiceError> {
    if !services.auth.is_required() {
        return Ok(Vec::new());
    }
    let current = |id: &str| who == Some(SignedIn::Device(id.to_owned()));
    let devices = services.auth.devices().await?.into_iter().map(|device| DeviceInfo {
        current: current(&device.device_id),
        device_id: device.device_id,
        name: device.name,
        last_seen_at: device.last_seen_at,
    });
    Ok(devices.collect())
}
