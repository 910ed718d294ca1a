use sqlx::Connection;
use tempfile::TempDir;
use throughline::server::store::{PAGE_STATEMENTS, Store, StoreError};

use crate::plant::raw;

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

/// What SQLite may go through from end to end: what a statement itself has gathered, and the places
/// that the search engine names.
const GATHERED: &[&str] =
    &["SCAN below", "SCAN given", "SCAN json_each", "SCAN newest", "SCAN hit", "SCAN (subquery"];

/// Tells whether the search engine is asked for a match of words, or a row by its number.
fn is_looked_up(step: &str) -> bool {
    let engine = step.split_once("VIRTUAL TABLE INDEX ");
    let asked = engine.and_then(|(_, index)| index.split_once(':')).map(|(_, asked)| asked);
    asked.is_some_and(|asked| asked.starts_with(['M', '=']))
}

#[tokio::test]
async fn no_page_of_a_list_a_tree_or_a_search_reads_a_whole_table() {
    let data = TempDir::new().unwrap();
    let _store = Store::open(data.path()).await.unwrap();
    let mut connection = raw(&data).await;
    let others = [
        (
            "SELECT session_id FROM sessions WHERE lineage_root_id = 'x' AND snapshot = 0 AND deleted_at IS NULL ORDER BY segment DESC LIMIT 1",
            "INDEX sessions_by_lineage",
        ),
        (
            "SELECT * FROM messages WHERE session_id = 'x' AND position < 9 ORDER BY position DESC LIMIT 50",
            "INDEX messages_by_position",
        ),
        ("SELECT * FROM messages WHERE turn_id = 'x' AND role = 'user'", "INDEX messages_by_turn"),
        ("SELECT * FROM messages WHERE state = 'streaming'", "INDEX messages_unfinished"),
    ];
    for (statement, index) in PAGE_STATEMENTS.iter().chain(&others) {
        let plan: Vec<(i64, i64, i64, String)> =
            sqlx::query_as(sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {statement}")))
                .fetch_all(&mut connection)
                .await
                .unwrap();
        assert!(plan.iter().any(|(.., step)| step.contains(index)), "{statement}: {plan:#?}");
        for (.., step) in plan {
            let gathered = GATHERED.iter().any(|allowed| step.starts_with(allowed));
            let scans = step.starts_with("SCAN") && !gathered && !is_looked_up(&step);
            assert!(!scans && !step.contains("TEMP B-TREE"), "{statement}: {step}");
        }
    }
}

#[tokio::test]
async fn opening_twice_changes_nothing() {
    let data = TempDir::new().unwrap();
    Store::open(data.path()).await.unwrap().close().await;
    Store::open(data.path()).await.unwrap().close().await;
}
