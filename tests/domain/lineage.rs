use serde_json::json;
use throughline::domain::ids::SessionId;
use throughline::domain::lineage::{Lineages, Node};
use throughline::domain::session::{Relation, Session};
use throughline::domain::time::Timestamp;

fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

/// Reads rows from a line: `a` a row, `a*` a snapshot, then in any number `<p` continues p, `/p`
/// is a fork of p, `?p` hangs on p without saying how, `>n` is continued by n, `^r` names the root
/// r, `#2` the segment and `@9` the activity.
fn rows(line: &str) -> Vec<Node> {
    line.split_whitespace().map(row).collect()
}

fn row(word: &str) -> Node {
    let sign = |character: char| !character.is_ascii_alphanumeric();
    let (name, mut rest) = word.split_at(word.find(sign).unwrap_or(word.len()));
    let mut node = Node::new(id(name));
    while let Some(kind) = rest.chars().next() {
        let after = &rest[1..];
        let (value, next) = after.split_at(after.find(sign).unwrap_or(after.len()));
        match kind {
            '*' => node.pre_compression_snapshot = true,
            '<' | '/' | '?' => node.parent_session_id = Some(id(value)),
            '>' => node.continuation_session_id = Some(id(value)),
            '^' => node.lineage_root_id = Some(id(value)),
            '#' => node.segment = Some(value.parse().unwrap()),
            '@' => node.last_activity_at = Some(Timestamp::from_millis(value.parse().unwrap())),
            other => panic!("no such sign: {other}"),
        }
        match kind {
            '<' => node.relation = Some(Relation::Continuation),
            '/' => node.relation = Some(Relation::Fork),
            _ => {}
        }
        rest = next;
    }
    node
}

fn names<'rows>(nodes: impl IntoIterator<Item = &'rows Node>) -> String {
    let names: Vec<&str> = nodes.into_iter().map(|node| node.session_id.as_str()).collect();
    names.join(" ")
}

/// Checks members, root and tip of one row, for the rows in the order given and in reverse.
fn check(line: &str, asked: &str, members: &str, root: &str, tip: Option<&str>) {
    let mut nodes = rows(line);
    for _ in 0..2 {
        let lineages = Lineages::new(&nodes, true);
        assert_eq!(names(lineages.members(asked)), members, "members of {asked} in {line}");
        assert_eq!(lineages.root(asked).map(SessionId::as_str), Some(root), "root in {line}");
        let found = lineages.tip(asked).map(|node| node.session_id.as_str());
        assert_eq!(found, tip, "tip of {asked} in {line}");
        nodes.reverse();
    }
}

fn check_leaves(line: &str, leaves: &str) {
    let nodes = rows(line);
    let lineages = Lineages::new(&nodes, true);
    assert_eq!(names(lineages.leaves()), leaves, "leaves of {line}");
    for node in &nodes {
        let name = node.session_id.as_str();
        let listed = leaves.split(' ').any(|leaf| leaf == name);
        assert_eq!(lineages.is_leaf(name), listed, "{name} in {line}");
    }
}

fn check_relation(line: &str, asked: &str, relation: Option<Relation>) {
    let nodes = rows(line);
    assert_eq!(Lineages::new(&nodes, true).relation(asked), relation, "{asked} in {line}");
}

#[test]
fn a_lineage_is_what_continuation_edges_connect() {
    check("a", "a", "a", "a", Some("a"));
    check("c<b a* b*<a x", "a", "a b c", "a", Some("c"));
    check("c<b a* b*<a x", "b", "a b c", "a", Some("c"));
    check("c<b a* b*<a x", "c", "a b c", "a", Some("c"));
    check("c<b a* b*<a x", "x", "x", "x", Some("x"));
}

#[test]
fn a_fork_starts_a_lineage_of_its_own() {
    check("a* b<a f/a", "a", "a b", "a", Some("b"));
    check("a* b<a f/a", "f", "f", "f", Some("f"));
    check("a* f*/a g<f b<a", "g", "f g", "f", Some("g"));
    check("a* f*/a g<f b<a", "a", "a b", "a", Some("b"));
}

#[test]
fn a_row_without_a_parent_continues_the_snapshot_that_names_it() {
    check("a*>b b*>c c", "c", "a b c", "a", Some("c"));
    // Not a live row, not a fork or what may be one, and not where the row itself says otherwise.
    check("a>b b", "b", "b", "b", Some("b"));
    check("a*>c b* c<b", "c", "b c", "b", Some("c"));
    check("x f*/x>c c", "c", "c", "c", Some("c"));
    check("a*>f f/x x", "f", "f", "f", Some("f"));
    check("f*?gone>c c", "c", "c", "c", Some("c"));
    check("a*>c c?gone", "c", "c", "c", Some("c"));
    // Itself least of all: that would make its depth unknown.
    check("a*>a b*<a c<b#1 d<a#9", "a", "a b d c", "a", Some("c"));
    // Of two snapshots that name one row, the lesser id.
    check("b*>c a*>c c", "c", "a c", "a", Some("c"));
}

#[test]
fn an_absent_parent_still_connects_its_children() {
    check("b*<gone c<gone", "b", "b c", "gone", Some("c"));
    check("b*<gone c/gone", "b", "b", "gone", None);
}

#[test]
fn members_are_ordered_by_depth_then_segment_then_activity_then_id() {
    check("a* b*<a#9@9 c<b#1@1", "a", "a b c", "a", Some("c"));
    check("a* b<a#3@1 c<a#2@9", "a", "a c b", "a", Some("b"));
    check("a* b<a#2@5 c<a#2@4", "a", "a c b", "a", Some("b"));
    check("a* b<a@5 c<a@5", "a", "a b c", "a", Some("c"));
    check("a* b<a@1 c<a", "a", "a c b", "a", Some("b"));
}

#[test]
fn a_lineage_of_snapshots_has_no_tip() {
    check("a* b*<a", "a", "a b", "a", None);
    check("a* b*<a f/b", "b", "a b", "a", None);
}

#[test]
fn a_cycle_is_cut_at_its_oldest_row_and_ordered_by_what_rows_say() {
    check("a<a", "a", "a", "a", Some("a"));
    check("a<b b<a", "a", "a b", "a", Some("b"));
    check("a<b#2 b<a#1", "a", "b a", "b", Some("a"));
    check("a<b@2 b<a@1", "a", "b a", "b", Some("a"));
    check("a<b#1 b<c#2 c<a#3", "b", "a b c", "a", Some("c"));
    check("a*>b b*>a", "a", "a b", "a", None);
    // A fork in the cycle is its top, because that leaves the lineage whole.
    check("a<b b/a", "a", "b a", "b", Some("a"));
    // Rows that hang on a cycle belong to it.
    check("a<b b<a c<a@1", "c", "a b c", "a", Some("c"));
}

#[test]
fn a_second_copy_of_a_row_is_one_row() {
    check("a* b<a b<a", "a", "a b", "a", Some("b"));
    check("a@9 a*@1 b<a", "a", "a b", "a", Some("b"));
    check("a* b/a@1 b<a@2", "a", "a b", "a", Some("b"));
    check("a* b/a@2 b<a@1", "a", "a", "a", None);
    check("a* b b<a", "a", "a b", "a", Some("b"));
}

#[test]
fn leaves_are_the_rows_that_no_other_hangs_on() {
    check_leaves("a", "a");
    check_leaves("a* b<a", "b");
    check_leaves("a* b<a f/a g/b", "f g");
    check_leaves("a*>b b", "b");
    check_leaves("a<gone", "a");
    // Rows in a cycle must not hide each other.
    check_leaves("a/a", "a");
    check_leaves("a/b b/a", "a b");
    check_leaves("a<b b<a", "a b");
    check_leaves("a<c b<a c<b", "a b c");
    // What hangs on a cycle is hidden by nobody, and hides as anywhere else.
    check_leaves("a/b b/a c/a", "b c");
}

#[test]
fn a_relation_that_is_not_said_follows_from_the_parent() {
    let continuation = Some(Relation::Continuation);
    let fork = Some(Relation::Fork);
    check_relation("a* b?a", "b", continuation);
    check_relation("a b?a", "b", fork);
    check_relation("a* b/a", "b", fork);
    check_relation("a b<a", "b", continuation);
    check_relation("a", "a", None);
    check_relation("b?gone", "b", None);
    check_relation("b?gone^b", "b", fork);
    check_relation("b?gone^gone", "b", continuation);
    check_relation("a b?a^a", "b", fork);
    check_relation("a*>b b", "b", continuation);
    check_relation("a", "unknown", None);
}

#[test]
fn an_unknown_row_has_no_lineage() {
    let nodes = rows("a* b<a c<gone");
    let lineages = Lineages::new(&nodes, true);
    for name in ["unknown", "", "gone"] {
        assert!(lineages.get(name).is_none());
        assert!(lineages.root(name).is_none());
        assert!(lineages.tip(name).is_none());
        assert!(lineages.members(name).is_empty());
        assert!(!lineages.is_leaf(name));
    }
    assert_eq!(lineages.get("b"), nodes.get(1));
}

#[test]
fn a_row_is_read_with_all_that_it_says() {
    let read: Node = serde_json::from_value(json!({
        "session_id": "b",
        "parent_session_id": "a",
        "relation": "fork",
        "pre_compression_snapshot": true,
        "continuation_session_id": "c",
        "canonical_visible_session_id": "d",
        "_lineage_root_id": "e",
        "_lineage_tip_id": "f",
        "_compression_segment_count": 4,
        "last_activity_at": 1.5,
    }))
    .unwrap();
    let expected = Node {
        session_id: id("b"),
        parent_session_id: Some(id("a")),
        relation: Some(Relation::Fork),
        pre_compression_snapshot: true,
        continuation_session_id: Some(id("c")),
        canonical_visible_session_id: Some(id("d")),
        lineage_root_id: Some(id("e")),
        lineage_tip_id: Some(id("f")),
        segment: Some(4),
        last_activity_at: Some(Timestamp::from_millis(1500)),
    };
    assert_eq!(read, expected);
}

#[test]
fn a_row_needs_nothing_but_a_valid_id() {
    let read = |value| serde_json::from_value::<Node>(value).ok();
    assert_eq!(read(json!({ "session_id": "a" })), Some(Node::new(id("a"))));
    let strange = json!({ "session_id": "a", "_lineage_tip_id": [1, { "b": 2 }], "_compression_segment_count": -1 });
    assert_eq!(read(strange), Some(Node::new(id("a"))));
    for wrong in [json!({}), json!({ "session_id": "" }), json!({ "session_id": 1 }), json!("a")] {
        assert_eq!(read(wrong), None);
    }
}

#[test]
fn a_stored_session_says_the_same_as_the_row_it_is_sent_as() {
    let session: Session = serde_json::from_value(json!({
        "session_id": "b",
        "title": "Build", "agent": "demo", "workspace": "/", "preview": "",
        "parent_session_id": "a",
        "relation": "continuation",
        "pre_compression_snapshot": true,
        "continuation_session_id": "c",
        "canonical_visible_session_id": "d",
        "_lineage_root_id": "a",
        "_lineage_tip_id": "d",
        "_compression_segment_count": 4,
        "status": "idle", "milestone": null, "open_questions": 0, "message_count": 2,
        "pinned": false, "archived": false,
        "created_at": "2026-05-25T11:14:15Z",
        "last_activity_at": "2026-05-25T11:15:00.250Z",
    }))
    .unwrap();
    let sent: Node = serde_json::from_value(serde_json::to_value(&session).unwrap()).unwrap();
    assert_eq!(Node::from(&session), sent);
    assert_eq!(sent.segment, Some(4));
    assert_eq!(sent.last_activity_at, Some(session.last_activity_at));
}
