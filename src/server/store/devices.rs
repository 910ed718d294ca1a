//! Devices that are signed in, and codes that sign one in.

use futures::FutureExt;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, query};

use super::{Store, StoreError};
use crate::domain::time::Timestamp;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    pub device_id: String,
    pub name: String,
    pub created_at: Timestamp,
    pub last_seen_at: Timestamp,
}

impl Store {
    pub async fn add_device(&self, device: &Device, secret_hash: &str) -> Result<(), StoreError> {
        let statement = query(
            "INSERT INTO devices (device_id, secret_hash, name, created_at, last_seen_at) \
             VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(&device.device_id)
        .bind(secret_hash)
        .bind(&device.name)
        .bind(device.created_at.millis())
        .bind(device.last_seen_at.millis());
        self.execute(statement).await?;
        self.flush_wal().await
    }

    /// Finds a device by the hash of its secret.
    pub async fn device_by_secret(&self, secret_hash: &str) -> Result<Option<Device>, StoreError> {
        let statement = "SELECT device_id, name, created_at, last_seen_at FROM devices \
                         WHERE secret_hash = $1";
        let statement = query(statement).bind(secret_hash);
        let found = self.read_optional(statement).await?;
        found.as_ref().map(device).transpose()
    }

    /// Lists the devices that were seen since a time, the last seen first.
    pub async fn devices_since(&self, since: Timestamp) -> Result<Vec<Device>, StoreError> {
        let statement = "SELECT device_id, name, created_at, last_seen_at FROM devices \
                         WHERE last_seen_at >= $1 ORDER BY last_seen_at DESC, device_id";
        let statement = query(statement).bind(since.millis());
        let found = self.read_all(statement).await?;
        found.iter().map(device).collect()
    }

    pub async fn touch_device(&self, device_id: &str, at: Timestamp) -> Result<(), StoreError> {
        let statement = query("UPDATE devices SET last_seen_at = $2 WHERE device_id = $1")
            .bind(device_id)
            .bind(at.millis());
        self.execute(statement).await.map(drop)
    }

    /// Removes a device, and tells whether there was one.
    pub async fn remove_device(&self, device_id: &str) -> Result<bool, StoreError> {
        let statement = query("DELETE FROM devices WHERE device_id = $1").bind(device_id);
        let removed = self.execute(statement).await?.changed;
        self.flush_wal().await?;
        Ok(removed > 0)
    }

    /// Removes all devices that were not seen since a time.
    pub async fn remove_devices_before(&self, before: Timestamp) -> Result<(), StoreError> {
        let statement = query("DELETE FROM devices WHERE last_seen_at < $1").bind(before.millis());
        self.execute(statement).await.map(drop)
    }

    /// Keeps a code that signs a device in, and removes those that expired.
    pub async fn add_pairing(
        &self,
        code_hash: &str,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let remove_expired = query("DELETE FROM pairings WHERE expires_at < $1").bind(now.millis());
        let insert = query("INSERT INTO pairings (code_hash, expires_at) VALUES ($1, $2)")
            .bind(code_hash)
            .bind(expires_at.millis());
        self.write(|transaction| {
            async move {
                transaction.execute(remove_expired).await?;
                transaction.execute(insert).await?;
                Ok(())
            }
            .boxed()
        })
        .await?;
        self.flush_wal().await
    }

    /// Removes a code, and tells whether it was there and still good.
    pub async fn take_pairing(&self, code_hash: &str, now: Timestamp) -> Result<bool, StoreError> {
        let statement =
            query("DELETE FROM pairings WHERE code_hash = $1 RETURNING expires_at").bind(code_hash);
        let taken = self.execute(statement).await?.returned;
        self.flush_wal().await?;
        let Some(code) = taken.first() else { return Ok(false) };
        Ok(now.millis() <= code.try_get("expires_at")?)
    }
}

fn device(row: &SqliteRow) -> Result<Device, StoreError> {
    Ok(Device {
        device_id: row.try_get("device_id")?,
        name: row.try_get("name")?,
        created_at: Timestamp::from_millis(row.try_get("created_at")?),
        last_seen_at: Timestamp::from_millis(row.try_get("last_seen_at")?),
    })
}
