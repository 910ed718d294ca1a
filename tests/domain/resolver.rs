use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde::Deserialize;
use serde_json::{Value, json};
use throughline::domain::ids::SessionId;
use throughline::domain::lineage::{Lineages, Node};
use throughline::domain::resolver::{
    EntryPoint, Intent, Outcome, Request, Resolution, Supplied, requested_at_boot, resolve,
    resolve_in, visible,
};
use throughline::domain::session::Relation;
use throughline::domain::time::Timestamp;

const ENTRY_POINTS: [EntryPoint; 6] = [
    EntryPoint::Route,
    EntryPoint::Query,
    EntryPoint::Storage,
    EntryPoint::Sidebar,
    EntryPoint::DirectOpen,
    EntryPoint::Boot,
];

/// The ids that generated rows have or name. Few, so that they meet.
const IDS: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "h"];

fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

fn request(id: &str, intent: Intent) -> Request<'_> {
    Request { id: Some(id), entry_point: EntryPoint::Route, intent }
}

fn navigate(lineages: &Lineages, id: &str) -> Resolution {
    resolve_in(&request(id, Intent::Navigate), lineages)
}

/// Answers for every id that rows may have or name, and for both intents.
fn all_answers(rows: &[Node], complete: bool) -> Vec<Resolution> {
    let lineages = Lineages::new(rows, complete);
    let intents = [Intent::Navigate, Intent::Inspect];
    let requests = IDS.iter().flat_map(|id| intents.map(|intent| request(id, intent)));
    requests.map(|request| resolve_in(&request, &lineages)).collect()
}

// The fixture file, which the browser's build runs as well.

#[derive(Deserialize)]
struct Case {
    name: String,
    rows: Vec<Node>,
    complete: bool,
    requested: Option<String>,
    inspect: bool,
    expect: Value,
}

#[test]
fn every_case_of_the_fixture_file_resolves_as_written() {
    let text = std::fs::read_to_string("tests/fixtures/resolution.json").unwrap();
    let cases: Vec<Case> = serde_json::from_str(&text).unwrap();
    assert!(cases.len() >= 60, "only {} cases", cases.len());
    for case in cases {
        let intent = if case.inspect { Intent::Inspect } else { Intent::Navigate };
        for entry_point in ENTRY_POINTS {
            let request = Request { id: case.requested.as_deref(), entry_point, intent };
            let answer = resolve(&request, &case.rows, case.complete);
            assert_eq!(serde_json::to_value(&answer).unwrap(), case.expect, "{}", case.name);
            let read: Resolution = serde_json::from_value(case.expect.clone()).unwrap();
            assert_eq!(read, answer, "{}", case.name);
        }
    }
}

// What a page asks for when it starts.

fn check_boot(places: [Option<&str>; 4], expected: Option<&str>, entry_point: EntryPoint) {
    let [route, session, session_id, storage] = places;
    let request = requested_at_boot(&Supplied { route, session, session_id, storage });
    assert_eq!(request, Request { id: expected, entry_point, intent: Intent::Navigate });
}

#[test]
fn at_boot_the_address_comes_before_what_is_remembered() {
    use EntryPoint::{Boot, Query, Route, Storage};
    let all = [Some("route"), Some("session"), Some("session_id"), Some("storage")];
    check_boot(all, Some("route"), Route);
    check_boot([None, all[1], all[2], all[3]], Some("session"), Query);
    check_boot([None, None, all[2], all[3]], Some("session_id"), Query);
    check_boot([None, None, None, all[3]], Some("storage"), Storage);
    check_boot([None; 4], None, Boot);
    check_boot([Some(""), Some("  "), None, all[3]], Some("storage"), Storage);
    check_boot([Some(""), Some(""), Some(""), Some(" ")], None, Boot);
    // An address that holds nonsense is answered as such, not with what is remembered.
    check_boot([Some("a/b"), None, None, all[3]], Some("a/b"), Route);
}

// The sidebar.

fn check_visible(rows: Value, complete: bool, expected: &[(&str, &[&str])]) {
    let rows: Vec<Node> = serde_json::from_value(rows).unwrap();
    let lineages = Lineages::new(&rows, complete);
    let list = visible(&lineages);
    let found: Vec<(&str, Vec<&str>)> = list
        .iter()
        .map(|it| {
            let snapshots = it.snapshots.iter().map(|node| node.session_id.as_str()).collect();
            (it.row.session_id.as_str(), snapshots)
        })
        .collect();
    let expected: Vec<(&str, Vec<&str>)> =
        expected.iter().map(|(row, snapshots)| (*row, snapshots.to_vec())).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_sidebar_shows_a_lineage_once_with_its_earlier_parts_in_order() {
    let rows = json!([
        { "session_id": "z-first", "pre_compression_snapshot": true },
        { "session_id": "a-second", "pre_compression_snapshot": true, "parent_session_id": "z-first" },
        { "session_id": "live", "parent_session_id": "a-second" },
        { "session_id": "fork", "parent_session_id": "z-first", "relation": "fork" },
        { "session_id": "other" },
    ]);
    let expected: [(&str, &[&str]); 3] =
        [("fork", &[]), ("live", &["z-first", "a-second"]), ("other", &[])];
    check_visible(rows, true, &expected);
}

#[test]
fn the_sidebar_shows_an_orphan_but_not_a_snapshot_whose_live_row_is_not_loaded() {
    let rows = json!([
        { "session_id": "s", "pre_compression_snapshot": true, "canonical_visible_session_id": "live" },
        { "session_id": "orphan", "pre_compression_snapshot": true },
    ]);
    check_visible(rows.clone(), false, &[("orphan", &[])]);
    check_visible(rows, true, &[("orphan", &[]), ("s", &[])]);
}

// The invariants of the contract, on rows that no server would write.

fn some_id() -> impl Strategy<Value = Option<SessionId>> {
    prop_oneof![2 => Just(None), 1 => select(&IDS[..]).prop_map(|text| Some(id(text)))]
}

fn relation() -> impl Strategy<Value = Option<Relation>> {
    prop_oneof![
        2 => Just(None),
        3 => Just(Some(Relation::Continuation)),
        1 => Just(Some(Relation::Fork)),
    ]
}

fn node(snapshots: f64) -> impl Strategy<Value = Node> {
    let parent = prop_oneof![1 => Just(None), 3 => select(&IDS[..]).prop_map(|it| Some(id(it)))];
    let own = (select(&IDS[..]), prop::bool::weighted(snapshots), parent, relation());
    let said = (some_id(), some_id(), some_id(), some_id());
    let order = (prop::option::of(0_u32..3), prop::option::of(0_i64..3));
    (own, said, order).prop_map(|(own, said, order)| Node {
        session_id: id(own.0),
        parent_session_id: own.2,
        relation: own.3,
        pre_compression_snapshot: own.1,
        continuation_session_id: said.0,
        canonical_visible_session_id: said.1,
        lineage_root_id: said.2,
        lineage_tip_id: said.3,
        segment: order.0,
        last_activity_at: order.1.map(Timestamp::from_millis),
    })
}

/// Makes a second copy of a row that differs from it in one field.
fn near_copy(row: &Node, other: Node, field: usize) -> Node {
    let mut copy = row.clone();
    match field {
        0 => copy.parent_session_id = other.parent_session_id,
        1 => copy.relation = other.relation,
        2 => copy.pre_compression_snapshot = other.pre_compression_snapshot,
        3 => copy.continuation_session_id = other.continuation_session_id,
        4 => copy.canonical_visible_session_id = other.canonical_visible_session_id,
        5 => copy.lineage_root_id = other.lineage_root_id,
        6 => copy.lineage_tip_id = other.lineage_tip_id,
        7 => copy.segment = other.segment,
        _ => copy.last_activity_at = other.last_activity_at,
    }
    copy
}

/// Makes rows with every fault at once: cycles, dangling ids, duplicates, forks of snapshots,
/// lineages of snapshots alone, fields that contradict each other.
fn rows() -> impl Strategy<Value = Vec<Node>> {
    let rows = prop_oneof![
        4 => prop::collection::vec(node(0.6), 0..12),
        1 => prop::collection::vec(node(1.0), 0..8),
        1 => prop::collection::vec(node(0.1), 0..8),
    ];
    let copies = prop::collection::vec((any::<Index>(), node(0.5), 0..9_usize), 0..3);
    (rows, copies).prop_map(|(mut rows, copies)| {
        for (place, other, field) in copies {
            if !rows.is_empty() {
                rows.push(near_copy(place.get(&rows), other, field));
            }
        }
        rows
    })
}

fn with_unique_ids(rows: Vec<Node>) -> Vec<Node> {
    let mut unique: Vec<Node> = Vec::new();
    for row in rows {
        if unique.iter().all(|known| known.session_id != row.session_id) {
            unique.push(row);
        }
    }
    unique
}

/// Lists the edges that are marked as continuations.
fn marked_edges(rows: &[Node]) -> Vec<(&SessionId, &SessionId)> {
    let marked = rows.iter().filter(|row| row.relation == Some(Relation::Continuation));
    marked.filter_map(|row| Some((&row.session_id, row.parent_session_id.as_ref()?))).collect()
}

/// Lists the edges that may be continuations: all but those of marked forks.
fn possible_edges(rows: &[Node]) -> Vec<(&SessionId, &SessionId)> {
    let is_fork = |id: &SessionId| {
        rows.iter().any(|row| row.session_id == *id && row.relation == Some(Relation::Fork))
    };
    let parents =
        rows.iter().filter_map(|row| Some((&row.session_id, row.parent_session_id.as_ref()?)));
    let continuations = rows
        .iter()
        .filter_map(|row| Some((row.continuation_session_id.as_ref()?, &row.session_id)));
    parents.chain(continuations).filter(|(child, _)| !is_fork(child)).collect()
}

/// Floods a lineage along edges in the plainest way there is.
fn connected<'rows>(
    rows: &'rows [Node],
    edges: &[(&SessionId, &SessionId)],
    start: &SessionId,
) -> Vec<&'rows Node> {
    let mut reached = vec![start];
    let mut next = 0;
    while let Some(here) = reached.get(next).copied() {
        for (child, parent) in edges {
            for (from, to) in [(child, parent), (parent, child)] {
                if *from == here && !reached.contains(to) {
                    reached.push(to);
                }
            }
        }
        next += 1;
    }
    rows.iter().filter(|row| reached.contains(&&row.session_id)).collect()
}

fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases * 4, failure_persistence: None, ..default }
}

proptest! {
    #![proptest_config(config())]

    /// Invariant 1.
    #[test]
    fn every_request_is_answered(
        rows in rows(),
        complete: bool,
        text in prop_oneof![select(&IDS[..]).prop_map(str::to_owned), "[a-h]{0,2}", "\\PC{0,140}"],
        inspect: bool,
    ) {
        let intent = if inspect { Intent::Inspect } else { Intent::Navigate };
        let answer = resolve(&request(&text, intent), &rows, complete);
        let shows = matches!(answer.outcome, Outcome::Open | Outcome::Inspect);
        prop_assert_eq!(answer.session_id.is_some(), shows);
        prop_assert_eq!(answer.canonical_visible_session_id.is_some(), shows);
        prop_assert_eq!(answer.outcome == Outcome::Invalid, SessionId::parse(&text).is_err());
        prop_assert!(!complete || answer.outcome != Outcome::AskServer);
        prop_assert!(complete || answer.outcome != Outcome::Missing);
        prop_assert!(answer.anomalies.is_sorted_by(|left, right| left < right));
        prop_assert!(answer.hops as usize <= rows.len() + 1);
        prop_assert_eq!(answer.requested, Some(text));
    }

    /// Invariant 2.
    #[test]
    fn resolving_the_answer_gives_the_answer(rows in rows(), complete: bool) {
        let lineages = Lineages::new(&rows, complete);
        for text in IDS {
            for intent in [Intent::Navigate, Intent::Inspect] {
                let first = resolve_in(&request(text, intent), &lineages);
                let Some(shown) = &first.session_id else { continue };
                let second = resolve_in(&request(shown.as_str(), intent), &lineages);
                prop_assert_eq!(second.outcome, first.outcome);
                prop_assert_eq!(&second.session_id, &first.session_id);
                prop_assert_eq!(
                    &second.canonical_visible_session_id,
                    &first.canonical_visible_session_id
                );
                prop_assert_eq!(second.hops, 0);
                let Some(canonical) = &first.canonical_visible_session_id else { continue };
                let there = navigate(&lineages, canonical.as_str());
                prop_assert_eq!(there.session_id.as_ref(), Some(canonical));
            }
        }
    }

    /// Invariant 3, and with it that forks are never candidates.
    #[test]
    fn navigation_opens_live_rows_and_stays_in_the_conversation(rows in rows(), complete: bool) {
        let rows = with_unique_ids(rows);
        let lineages = Lineages::new(&rows, complete);
        for row in &rows {
            let answer = navigate(&lineages, row.session_id.as_str());
            let members = connected(&rows, &marked_edges(&rows), &row.session_id);
            let live = members.iter().any(|member| !member.pre_compression_snapshot);
            prop_assert!(!live || answer.outcome == Outcome::Open);
            let shown = rows.iter().find(|it| Some(&it.session_id) == answer.session_id.as_ref());
            if answer.outcome == Outcome::Inspect {
                prop_assert_eq!(shown, Some(row));
                continue;
            }
            prop_assert!(!complete || shown.is_some());
            let Some(shown) = shown else { continue };
            prop_assert!(!shown.pre_compression_snapshot);
            let relatives = connected(&rows, &possible_edges(&rows), &row.session_id);
            prop_assert!(shown.relation != Some(Relation::Fork) || relatives.contains(&shown));
        }
    }

    /// Invariant 4.
    #[test]
    fn the_entry_point_never_changes_the_answer(rows in rows(), complete: bool) {
        let lineages = Lineages::new(&rows, complete);
        for text in IDS {
            let expected = navigate(&lineages, text);
            for entry_point in ENTRY_POINTS {
                let request = Request { entry_point, ..request(text, Intent::Navigate) };
                prop_assert_eq!(&resolve_in(&request, &lineages), &expected);
            }
        }
    }

    /// Invariant 5.
    #[test]
    fn sidebar_and_open_agree_for_every_row(rows in rows(), complete: bool) {
        let lineages = Lineages::new(&rows, complete);
        let list = visible(&lineages);
        for row in with_unique_ids(rows.clone()) {
            let opened = navigate(&lineages, row.session_id.as_str()).session_id;
            let standing: Vec<&SessionId> = list
                .iter()
                .filter(|it| it.snapshots.iter().any(|part| part.session_id == row.session_id))
                .map(|it| &it.row.session_id)
                .collect();
            let shown = list.iter().filter(|it| it.row.session_id == row.session_id).count();
            let loaded = opened.as_ref().is_some_and(|it| lineages.get(it.as_str()).is_some());
            if opened.as_ref() == Some(&row.session_id) {
                prop_assert_eq!((shown, standing.len()), (1, 0));
            } else if loaded {
                prop_assert_eq!((shown, standing), (0, Vec::from_iter(opened.as_ref())));
            } else {
                prop_assert_eq!((shown, standing.len(), complete), (0, 0, false));
            }
        }
    }

    /// Invariant 7.
    #[test]
    fn adding_a_fork_changes_no_other_answer(
        rows in rows(),
        mut fork in node(0.5),
        marked: bool,
        place: Index,
        complete: bool,
    ) {
        // An unmarked child of a live row is a fork as well, and one whose parent nobody knows and
        // that claims no root may be.
        let is_fork = |parent: &SessionId| match Lineages::new(&rows, complete).get(parent.as_str()) {
            Some(parent) => !parent.pre_compression_snapshot,
            None => fork.lineage_root_id.is_none(),
        };
        let unmarked = !marked && fork.parent_session_id.as_ref().is_some_and(is_fork);
        fork.session_id = id("fork");
        fork.relation = if unmarked { None } else { Some(Relation::Fork) };
        let mut more = rows.clone();
        more.insert(place.index(rows.len() + 1), fork.clone());
        let before = all_answers(&rows, complete);
        for (old, new) in before.iter().zip(all_answers(&more, complete)) {
            // An absent row that the fork itself calls its live row becomes known by that.
            let named = fork.canonical_visible_session_id.as_ref().map(SessionId::as_str);
            let present = rows.iter().any(|row| Some(row.session_id.as_str()) == old.requested.as_deref());
            if present || old.requested.as_deref() != named {
                prop_assert_eq!(old, &new);
            }
        }
    }

    /// Invariant 8.
    #[test]
    fn row_order_never_changes_the_answer(
        (rows, shuffled) in rows().prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
        complete: bool,
    ) {
        prop_assert_eq!(all_answers(&rows, complete), all_answers(&shuffled, complete));
        let (lineages, other) = (Lineages::new(&rows, complete), Lineages::new(&shuffled, complete));
        prop_assert_eq!(visible(&lineages), visible(&other));
    }
}
