//! Devices that are signed in, and codes that sign one in.

use rusqlite::{OptionalExtension, Row, params};

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
        self.write(|transaction| {
            transaction
                .prepare_cached(
                    "INSERT INTO devices (device_id, secret_hash, name, created_at, last_seen_at) \
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                )?
                .execute(params![
                    device.device_id,
                    secret_hash,
                    device.name,
                    device.created_at.millis(),
                    device.last_seen_at.millis(),
                ])?;
            Ok(())
        })
        .await?;
        self.settle().await
    }

    /// Finds a device by the hash of its secret, on this thread.
    pub fn device_by_secret(&self, secret_hash: &str) -> Result<Option<Device>, StoreError> {
        self.read(|connection| {
            let found = connection
                .prepare_cached(
                    "SELECT device_id, name, created_at, last_seen_at FROM devices \
                     WHERE secret_hash = ?1",
                )?
                .query_row([secret_hash], device)
                .optional()?;
            Ok(found)
        })
    }

    /// Lists the devices that were seen since a time, the last seen first.
    pub fn devices_since(&self, since: Timestamp) -> Result<Vec<Device>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT device_id, name, created_at, last_seen_at FROM devices \
                 WHERE last_seen_at >= ?1 ORDER BY last_seen_at DESC, device_id",
            )?;
            let found = statement.query_map([since.millis()], device)?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }

    pub async fn touch_device(&self, device_id: &str, at: Timestamp) -> Result<(), StoreError> {
        self.write(|transaction| {
            transaction
                .prepare_cached("UPDATE devices SET last_seen_at = ?2 WHERE device_id = ?1")?
                .execute(params![device_id, at.millis()])?;
            Ok(())
        })
        .await
    }

    /// Removes a device, and tells whether there was one.
    pub async fn remove_device(&self, device_id: &str) -> Result<bool, StoreError> {
        let removed = self
            .write(|transaction| {
                let statement = "DELETE FROM devices WHERE device_id = ?1";
                Ok(transaction.prepare_cached(statement)?.execute([device_id])?)
            })
            .await?;
        self.settle().await?;
        Ok(removed > 0)
    }

    /// Removes all devices that were not seen since a time.
    pub async fn remove_devices_before(&self, before: Timestamp) -> Result<(), StoreError> {
        self.write(|transaction| {
            let statement = "DELETE FROM devices WHERE last_seen_at < ?1";
            transaction.prepare_cached(statement)?.execute([before.millis()])?;
            Ok(())
        })
        .await
    }

    /// Keeps a code that signs a device in, and forgets those that expired.
    pub async fn add_pairing(
        &self,
        code_hash: &str,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        self.write(|transaction| {
            transaction
                .prepare_cached("DELETE FROM pairings WHERE expires_at < ?1")?
                .execute([now.millis()])?;
            transaction
                .prepare_cached("INSERT INTO pairings (code_hash, expires_at) VALUES (?1, ?2)")?
                .execute(params![code_hash, expires_at.millis()])?;
            Ok(())
        })
        .await?;
        self.settle().await
    }

    /// Takes a code away, and tells whether it was there and still good.
    pub async fn take_pairing(&self, code_hash: &str, now: Timestamp) -> Result<bool, StoreError> {
        let expires_at = self
            .write(|transaction| {
                let statement = "DELETE FROM pairings WHERE code_hash = ?1 RETURNING expires_at";
                let mut statement = transaction.prepare_cached(statement)?;
                let taken = statement.query_row([code_hash], |row| row.get::<_, i64>(0));
                Ok(taken.optional()?)
            })
            .await?;
        self.settle().await?;
        Ok(expires_at.is_some_and(|expires_at| now.millis() <= expires_at))
    }
}

fn device(row: &Row<'_>) -> rusqlite::Result<Device> {
    Ok(Device {
        device_id: row.get(0)?,
        name: row.get(1)?,
        created_at: Timestamp::from_millis(row.get(2)?),
        last_seen_at: Timestamp::from_millis(row.get(3)?),
    })
}
