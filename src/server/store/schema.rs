//! The version of the database's schema.

use sqlx::migrate::MigrateError;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection, query_scalar};

use super::StoreError;

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!("src/server/store/migrations");

/// Brings a database up to date, and creates it where there is none.
pub(super) async fn migrate(options: &SqliteConnectOptions) -> Result<(), StoreError> {
    let mut connection = options.connect().await?;
    let migrated = MIGRATIONS.run(&mut connection).await;
    connection.close().await?;
    migrated.map_err(|error| match error {
        MigrateError::VersionMissing(_) | MigrateError::VersionTooNew(..) => {
            StoreError::Newer(name_of(options))
        }
        other => StoreError::Migrate(other),
    })
}

/// Refuses a database whose schema is not the one of this version, and changes nothing.
pub(super) async fn check(options: &SqliteConnectOptions) -> Result<(), StoreError> {
    let mut connection = options.connect().await?;
    let applied: Vec<i64> =
        query_scalar("SELECT version FROM _sqlx_migrations WHERE success = TRUE")
            .fetch_all(&mut connection)
            .await?;
    connection.close().await?;
    if applied.iter().any(|version| !MIGRATIONS.version_exists(*version)) {
        return Err(StoreError::Newer(name_of(options)));
    }
    if MIGRATIONS.iter().any(|migration| !applied.contains(&migration.version)) {
        return Err(StoreError::Older(name_of(options)));
    }
    Ok(())
}

fn name_of(options: &SqliteConnectOptions) -> String {
    options.get_filename().display().to_string()
}
