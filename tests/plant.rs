//! Session rows written straight into a data directory, as an import or an older version might.

use sqlx::{AssertSqlSafe, Connection, SqliteConnection};
use tempfile::TempDir;
use throughline::server::store::Store;

use crate::test_app::TestApp;

/// Opens the database of a data directory beside the store.
pub async fn raw(data: &TempDir) -> SqliteConnection {
    let file = data.path().join("throughline.db");
    SqliteConnection::connect(&format!("sqlite://{}", file.display())).await.unwrap()
}

/// Runs statements on the database of a data directory.
pub async fn run(data: &TempDir, statements: &str) {
    let mut connection = raw(data).await;
    sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// Makes a data directory with rows read from a line, each a second younger than the one before:
/// `a` a row, then in any number `<p` continues p, `/p` is a fork of p, `*` is a snapshot, `-` is
/// archived, `!` is deleted and `@9` has its last activity at that second.
pub async fn planted(line: &str) -> TempDir {
    let data = TempDir::new().unwrap();
    Store::open(data.path()).await.unwrap().close().await;
    run(&data, &statements(line)).await;
    data
}

/// Starts a server on planted rows.
pub async fn app(line: &str) -> TestApp {
    TestApp::start_with(planted(line).await, TempDir::new().unwrap()).await
}

fn statements(line: &str) -> String {
    let rows = line.split_whitespace().enumerate();
    rows.map(|(place, word)| statement(place + 1, word)).collect::<Vec<_>>().join(";\n")
}

fn statement(place: usize, word: &str) -> String {
    let sign = |letter: char| !letter.is_ascii_alphanumeric();
    let (name, mut rest) = word.split_at(word.find(sign).unwrap_or(word.len()));
    let (mut parent, mut relation) = ("NULL".to_owned(), "NULL");
    let (mut snapshot, mut archived, mut deleted) = (0, 0, "NULL");
    let mut activity = place.to_string();
    while let Some(kind) = rest.chars().next() {
        let after = &rest[1..];
        let (value, next) = after.split_at(after.find(sign).unwrap_or(after.len()));
        match kind {
            '<' => (parent, relation) = (format!("'{value}'"), "'continuation'"),
            '/' => (parent, relation) = (format!("'{value}'"), "'fork'"),
            '*' => snapshot = 1,
            '-' => archived = 1,
            '!' => deleted = "1",
            '@' => activity = value.to_owned(),
            other => panic!("no such sign: {other}"),
        }
        rest = next;
    }
    let root = match relation {
        "'continuation'" => format!(
            "COALESCE((SELECT lineage_root_id FROM sessions WHERE session_id = {parent}), {parent})"
        ),
        _ => format!("'{name}'"),
    };
    format!(
        "INSERT INTO sessions (session_id, title, agent, workspace, parent_session_id, relation, \
         snapshot, lineage_root_id, archived, deleted_at, created_at, last_activity_at) VALUES \
         ('{name}', 'Row {name}', 'demo', '/', {parent}, {relation}, {snapshot}, {root}, \
         {archived}, {deleted}, {place} * 1000, {activity} * 1000)"
    )
}
