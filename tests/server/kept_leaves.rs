//! What the database keeps about children, checked against what the rows say.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};
use tempfile::TempDir;
use throughline::domain::ids::SessionId;
use throughline::domain::lineage::{Lineages, Node};
use throughline::domain::session::Relation;
use throughline::server::store::Store;

use crate::plant::raw;

/// One change of the stored rows, by any writer.
#[derive(Debug, Clone)]
enum Change {
    Insert { name: String, parent: Option<String>, fork: bool, archived: bool },
    Archive { name: String, archived: bool },
    Delete { name: String, deleted: bool },
    Move { name: String, parent: Option<String> },
    Purge { name: String },
}

fn name() -> impl Strategy<Value = String> {
    "[a-h]".prop_map(String::from)
}

fn change() -> impl Strategy<Value = Change> {
    let parent = || prop::option::weighted(0.7, name());
    prop_oneof![
        4 => (name(), parent(), any::<bool>(), prop::bool::weighted(0.2))
            .prop_map(|(name, parent, fork, archived)| Change::Insert { name, parent, fork, archived }),
        1 => (name(), any::<bool>()).prop_map(|(name, archived)| Change::Archive { name, archived }),
        1 => (name(), any::<bool>()).prop_map(|(name, deleted)| Change::Delete { name, deleted }),
        1 => (name(), parent()).prop_map(|(name, parent)| Change::Move { name, parent }),
        1 => name().prop_map(|name| Change::Purge { name }),
    ]
}

impl Change {
    fn statement(&self) -> String {
        let quoted = |text: &Option<String>| {
            text.as_ref().map_or("NULL".to_owned(), |text| format!("'{text}'"))
        };
        match self {
            Self::Insert { name, parent, fork, archived } => {
                let relation = if *fork { "fork" } else { "continuation" };
                let relation = parent.as_ref().map(|_| relation.to_owned());
                format!(
                    "INSERT OR IGNORE INTO sessions (session_id, title, agent, workspace, \
                     parent_session_id, relation, lineage_root_id, archived, created_at, \
                     last_activity_at) VALUES ('{name}', '{name}', 'demo', '/', {}, {}, '{name}', \
                     {archived}, 1, 1)",
                    quoted(parent),
                    quoted(&relation)
                )
            }
            Self::Archive { name, archived } => {
                format!("UPDATE sessions SET archived = {archived} WHERE session_id = '{name}'")
            }
            Self::Delete { name, deleted } => {
                let at = if *deleted { "1" } else { "NULL" };
                format!("UPDATE sessions SET deleted_at = {at} WHERE session_id = '{name}'")
            }
            Self::Move { name, parent } => {
                let parent = quoted(parent);
                format!(
                    "UPDATE sessions SET parent_session_id = {parent} WHERE session_id = '{name}'"
                )
            }
            Self::Purge { name } => format!("DELETE FROM sessions WHERE session_id = '{name}'"),
        }
    }
}

/// A row as it is stored, with what is kept about it.
#[derive(Debug, sqlx::FromRow)]
struct Row {
    session_id: String,
    parent_session_id: Option<String>,
    relation: Option<String>,
    archived: bool,
    deleted: bool,
    child_count: i64,
    fork_count: i64,
    top: bool,
    is_leaf: bool,
}

async fn rows(connection: &mut SqliteConnection) -> Vec<Row> {
    sqlx::query_as(
        "SELECT session_id, parent_session_id, relation, archived, deleted_at IS NOT NULL AS \
         deleted, child_count, fork_count, top, is_leaf FROM sessions ORDER BY session_id",
    )
    .fetch_all(connection)
    .await
    .unwrap()
}

/// Tells from the rows alone whether climbing from a row comes back to it.
fn is_on_cycle(row: &Row, parents: &BTreeMap<&str, Option<&str>>) -> bool {
    let mut here = row.parent_session_id.as_deref();
    for _ in 0..=parents.len() {
        match here {
            Some(id) if id == row.session_id => return true,
            Some(id) => here = parents.get(id).copied().flatten(),
            None => return false,
        }
    }
    false
}

fn check(rows: &[Row]) {
    let parents: BTreeMap<_, _> = rows
        .iter()
        .map(|row| (row.session_id.as_str(), row.parent_session_id.as_deref()))
        .collect();
    let present: BTreeSet<_> =
        rows.iter().filter(|row| !row.deleted).map(|row| row.session_id.as_str()).collect();
    for row in rows {
        let hides = |child: &&Row| {
            child.parent_session_id.as_deref() == Some(&row.session_id)
                && !child.archived
                && !child.deleted
                && !is_on_cycle(child, &parents)
        };
        let children: Vec<_> = rows.iter().filter(hides).collect();
        let forks = children.iter().filter(|it| it.relation.as_deref() != Some("continuation"));
        assert_eq!(row.child_count as usize, children.len(), "{row:?} in {rows:#?}");
        assert_eq!(row.fork_count as usize, forks.count(), "{row:?} in {rows:#?}");
        let leaf = children.is_empty() && !row.archived && !row.deleted;
        assert_eq!(row.is_leaf, leaf, "{row:?} in {rows:#?}");
        let above = row.parent_session_id.as_deref().is_some_and(|it| present.contains(it));
        assert_eq!(row.top, !above || is_on_cycle(row, &parents), "{row:?} in {rows:#?}");
    }
}

/// The rows of a directory without marks are what `domain::lineage` sees.
fn check_with_domain(rows: &[Row]) {
    if rows.iter().any(|row| row.archived || row.deleted) {
        return;
    }
    let id = |text: &String| SessionId::parse(text).unwrap();
    let nodes: Vec<_> = rows
        .iter()
        .map(|row| {
            let mut node = Node::new(id(&row.session_id));
            node.parent_session_id = row.parent_session_id.as_ref().map(id);
            node.relation = match row.relation.as_deref() {
                Some("continuation") => Some(Relation::Continuation),
                Some(_) => Some(Relation::Fork),
                None => None,
            };
            node
        })
        .collect();
    let lineages = Lineages::new(&nodes, true);
    let expected: Vec<_> = lineages.leaves().map(|node| node.session_id.as_str()).collect();
    let kept: Vec<_> =
        rows.iter().filter(|row| row.is_leaf).map(|row| row.session_id.as_str()).collect();
    assert_eq!(kept, expected);
}

async fn check_counts(store: &Store, connection: &mut SqliteConnection) {
    let counted: (u32, u32, u32, u32) = sqlx::query_as(
        "SELECT COALESCE(SUM(is_leaf), 0), COALESCE(SUM(archived = 0 AND snapshot = 0 AND \
         deleted_at IS NULL), 0), COALESCE(SUM(archived = 1 AND snapshot = 0 AND deleted_at IS \
         NULL), 0), COALESCE(SUM(deleted_at IS NULL), 0) FROM sessions",
    )
    .fetch_one(connection)
    .await
    .unwrap();
    let kept = store.view_counts().await.unwrap();
    assert_eq!((kept.leaves, kept.visible, kept.archived, kept.all), counted);
}

/// Applies changes in some number of sittings; a start after each marks what cycles there are.
async fn check_changes(sittings: Vec<Vec<Change>>) {
    let data = TempDir::new().unwrap();
    Store::open(data.path()).await.unwrap().close().await;
    for changes in sittings {
        let mut connection = raw(&data).await;
        for change in changes {
            let statement = AssertSqlSafe(change.statement());
            sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
        }
        let store = Store::open(data.path()).await.unwrap();
        let rows = rows(&mut connection).await;
        check(&rows);
        check_with_domain(&rows);
        check_counts(&store, &mut connection).await;
        connection.close().await.unwrap();
        store.close().await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn what_is_kept_about_children_is_what_the_rows_say(
        sittings in prop::collection::vec(prop::collection::vec(change(), 0..14), 1..4)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(check_changes(sittings));
    }
}

#[tokio::test]
async fn rows_from_before_are_counted_when_they_are_brought_up_to_date() {
    let data = TempDir::new().unwrap();
    let mut connection = SqliteConnection::connect(&format!(
        "sqlite://{}/throughline.db?mode=rwc",
        data.path().display()
    ))
    .await
    .unwrap();
    let mut old = sqlx::migrate!("src/server/store/migrations");
    old.migrations.to_mut().retain(|migration| migration.version <= 3);
    old.run(&mut connection).await.unwrap();
    for change in [
        ("a", None),
        ("b", Some("a")),
        ("c", Some("a")),
        ("d", Some("c")),
        ("x", Some("y")),
        ("y", Some("x")),
    ] {
        let (name, parent) = (change.0.to_owned(), change.1.map(str::to_owned));
        let insert = Change::Insert { name, parent, fork: true, archived: false };
        let statement = AssertSqlSafe(insert.statement());
        sqlx::raw_sql(statement).execute(&mut connection).await.unwrap();
    }
    sqlx::raw_sql(
        "INSERT INTO messages (message_id, session_id, position, role, state, parts, created_at) \
         VALUES ('m', 'b', 1, 'user', 'complete', '[]', 1);
         INSERT INTO search_entries (session_id, message_id) VALUES ('b', 'm');
         INSERT INTO search (rowid, words) VALUES (last_insert_rowid(), 'a grebe');",
    )
    .execute(&mut connection)
    .await
    .unwrap();
    let store = Store::open(data.path()).await.unwrap();
    let rows = rows(&mut connection).await;
    check(&rows);
    let leaves: Vec<_> = rows.iter().filter(|row| row.is_leaf).map(|row| &row.session_id).collect();
    assert_eq!(leaves, ["b", "d", "x", "y"]);
    check_counts(&store, &mut connection).await;
    let found = store.search("greb", 9).await.unwrap();
    assert_eq!(found.len(), 1, "words indexed before are found");
    let found = store.search("d", 9).await.unwrap();
    assert_eq!(found[0].session.session_id.as_str(), "d", "and titles");
}
