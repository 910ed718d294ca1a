//! What the database holds, read past the server.

use std::path::Path;

use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection, query_as, query_scalar};

/// One message, without what differs between two runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    pub turn_id: String,
    pub role: String,
    pub state: String,
    /// Its text parts, one by one.
    pub texts: Vec<String>,
}

pub struct Rows {
    pub all: Vec<Row>,
}

impl Rows {
    pub fn of(&self, turn_id: &str, role: &str) -> Vec<&Row> {
        self.all.iter().filter(|row| row.turn_id == turn_id && row.role == role).collect()
    }

    pub async fn read(folder: &Path) -> Self {
        let mut connection = connect(folder).await;
        let statement = "SELECT turn_id, role, state, parts FROM messages \
                         ORDER BY session_id, position";
        let found: Vec<(String, String, String, String)> =
            query_as(statement).fetch_all(&mut connection).await.unwrap();
        let row = |(turn_id, role, state, parts): (String, String, String, String)| {
            let texts = texts_of(&parts);
            Row { turn_id, role, state, texts }
        };
        Self { all: found.into_iter().map(row).collect() }
    }
}

fn texts_of(parts: &str) -> Vec<String> {
    let parts: Vec<Value> = serde_json::from_str(parts).unwrap();
    let texts = parts.iter().filter(|part| part["type"] == "text");
    texts.map(|part| part["text"].as_str().unwrap().to_owned()).collect()
}

/// Writes out every column of every session and message.
pub async fn dump(folder: &Path) -> Vec<String> {
    let mut connection = connect(folder).await;
    let mut lines = Vec::new();
    for (table, key) in [("sessions", "session_id"), ("messages", "message_id")] {
        let columns: Vec<String> = query_scalar("SELECT name FROM pragma_table_info($1)")
            .bind(table)
            .fetch_all(&mut connection)
            .await
            .unwrap();
        let quoted: Vec<_> = columns.iter().map(|column| format!("quote({column})")).collect();
        let statement =
            format!("SELECT {} FROM {table} ORDER BY {key}", quoted.join(" || ',' || "));
        let rows: Vec<String> =
            query_scalar(AssertSqlSafe(statement)).fetch_all(&mut connection).await.unwrap();
        lines.extend(rows);
    }
    lines
}

pub async fn connect(folder: &Path) -> SqliteConnection {
    let file = folder.join("throughline.db");
    SqliteConnection::connect(&format!("sqlite://{}", file.display())).await.unwrap()
}
