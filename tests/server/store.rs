use sqlx::Connection;
use tempfile::TempDir;
use throughline::server::store::{Store, StoreError};

async fn raw(data: &TempDir) -> sqlx::SqliteConnection {
    let file = data.path().join("throughline.db");
    sqlx::SqliteConnection::connect(&format!("sqlite://{}", file.display())).await.unwrap()
}

#[tokio::test]
async fn a_newer_database_is_refused_in_plain_words_and_left_alone() {
    let data = TempDir::new().unwrap();
    Store::open(data.path()).await.unwrap().close().await;
    let mut connection = raw(&data).await;
    sqlx::query(
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
         VALUES (9999, 'from the future', 1, x'00', 0)",
    )
    .execute(&mut connection)
    .await
    .unwrap();
    connection.close().await.unwrap();
    let refused = Store::open(data.path()).await.unwrap_err();
    assert!(matches!(refused, StoreError::Newer(_)), "{refused:?}");
    assert!(refused.to_string().contains("newer Throughline"), "{refused}");
}

#[tokio::test]
async fn every_query_of_a_page_goes_through_an_index() {
    let data = TempDir::new().unwrap();
    let _store = Store::open(data.path()).await.unwrap();
    let mut connection = raw(&data).await;
    for query in [
        "SELECT * FROM sessions WHERE snapshot = 0 AND archived = 0 AND deleted_at IS NULL AND (last_activity_at, created_at, session_id) < (1, 2, 'x') ORDER BY last_activity_at DESC, created_at DESC, session_id DESC LIMIT 50",
        "SELECT * FROM sessions WHERE deleted_at IS NULL AND (last_activity_at, created_at, session_id) < (1, 2, 'x') ORDER BY last_activity_at DESC, created_at DESC, session_id DESC LIMIT 50",
        "SELECT * FROM sessions WHERE parent_session_id = 'x'",
        "SELECT session_id FROM sessions WHERE lineage_root_id = 'x' AND snapshot = 0 AND deleted_at IS NULL ORDER BY segment DESC LIMIT 1",
        "SELECT * FROM messages WHERE session_id = 'x' AND position < 9 ORDER BY position DESC LIMIT 50",
        "SELECT * FROM messages WHERE turn_id = 'x' AND role = 'user'",
        "SELECT * FROM messages WHERE state = 'streaming'",
    ] {
        let plan: Vec<(i64, i64, i64, String)> =
            sqlx::query_as(sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {query}")))
                .fetch_all(&mut connection)
                .await
                .unwrap();
        for (.., step) in plan {
            assert!(!step.starts_with("SCAN") && !step.contains("TEMP B-TREE"), "{query}: {step}");
        }
    }
}

#[tokio::test]
async fn opening_twice_changes_nothing() {
    let data = TempDir::new().unwrap();
    Store::open(data.path()).await.unwrap().close().await;
    Store::open(data.path()).await.unwrap().close().await;
}
