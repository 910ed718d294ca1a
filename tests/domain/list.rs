use std::cmp::Ordering;
use std::collections::HashMap;

use proptest::prelude::*;
use throughline::domain::ids::SessionId;
use throughline::domain::list::{ListView, group, newest_first, shorten, title_from_prompt};
use throughline::domain::listing::Listing;
use throughline::domain::session::{Session, Status};
use throughline::domain::time::Timestamp;

fn row(id: &str, status: Status, last_activity: i64) -> Session {
    let session_id = SessionId::parse(id).unwrap();
    Session {
        title: String::new(),
        agent: "demo".into(),
        workspace: "/".into(),
        parent_session_id: None,
        relation: None,
        pre_compression_snapshot: false,
        continuation_session_id: None,
        canonical_visible_session_id: None,
        lineage_root_id: None,
        lineage_tip_id: None,
        segment_count: 1,
        status,
        milestone: None,
        unread: false,
        open_questions: 0,
        child_count: 0,
        sibling_count: 0,
        preview: String::new(),
        message_count: 0,
        pinned: false,
        archived: false,
        created_at: Timestamp::from_millis(0),
        last_activity_at: Timestamp::from_millis(last_activity),
        session_id,
    }
}

fn rows() -> impl Strategy<Value = Vec<Session>> {
    let statuses = [Status::Idle, Status::Streaming, Status::Waiting, Status::Error];
    let one = ("[a-f]", prop::sample::select(statuses.to_vec()), 0_i64..5);
    prop::collection::vec(one, 0..12)
        .prop_map(|rows| rows.iter().map(|(id, status, at)| row(id, *status, *at)).collect())
}

/// Reads rows into a view and names those that stand in it, in order.
fn names(listing: &Listing) -> Vec<&str> {
    listing.rows().iter().map(|row| row.session_id.as_str()).collect()
}

fn listing(view: ListView, rows: impl IntoIterator<Item = Session>) -> Listing {
    let mut listing = Listing::new(view);
    listing.read(rows);
    listing
}

fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

#[test]
fn what_runs_or_waits_comes_before_newer_history() {
    let rows = [
        row("history", Status::Idle, 9),
        row("waiting", Status::Waiting, 1),
        row("streaming", Status::Streaming, 2),
        row("failed", Status::Error, 8),
    ];
    let current = listing(ListView::Leaves, rows.clone());
    assert_eq!(names(&current), ["streaming", "waiting", "history", "failed"]);
    let all = listing(ListView::Visible, rows);
    assert_eq!(names(&all), ["history", "failed", "streaming", "waiting"]);
}

#[test]
fn what_is_pinned_or_worked_with_comes_before_newer_history() {
    let mut current = listing(
        ListView::Leaves,
        [
            row("history", Status::Idle, 9),
            row("mine", Status::Idle, 2),
            Session { pinned: true, ..row("pinned", Status::Idle, 1) },
            row("streaming", Status::Streaming, 0),
        ],
    );
    current.work_with(&[id("mine")]);
    assert_eq!(names(&current), ["streaming", "pinned", "mine", "history"]);
    current.work_with(&[]);
    assert_eq!(names(&current), ["streaming", "pinned", "history", "mine"]);
}

#[test]
fn a_row_with_children_stands_among_leaves_only_while_it_is_held() {
    let parent = Session { child_count: 1, ..row("parent", Status::Idle, 1) };
    let mut current = listing(ListView::Leaves, [parent.clone()]);
    assert!(names(&current).is_empty());
    current.look_at(Some(id("parent")));
    assert_eq!(names(&current), ["parent"]);
    current.look_at(Some(id("other")));
    assert!(names(&current).is_empty());
    for held in [
        Session { pinned: true, ..parent.clone() },
        Session { status: Status::Waiting, ..parent.clone() },
        Session { child_count: 0, ..parent.clone() },
    ] {
        current.change(held);
        assert_eq!(names(&current), ["parent"]);
    }
    current.change(Session { archived: true, pinned: true, ..parent });
    assert!(names(&current).is_empty());
}

#[test]
fn a_row_that_leads_to_another_stands_in_no_list() {
    let record = Session {
        pre_compression_snapshot: true,
        canonical_visible_session_id: Some(id("tip")),
        ..row("record", Status::Idle, 1)
    };
    let orphan = Session { canonical_visible_session_id: None, ..record.clone() };
    for view in [ListView::Leaves, ListView::Visible] {
        assert!(names(&listing(view, [record.clone()])).is_empty());
        assert_eq!(names(&listing(view, [orphan.clone()])), ["record"]);
    }
}

#[test]
fn news_is_newer_than_what_a_page_says() {
    let mut current = listing(ListView::Leaves, [row("a", Status::Idle, 1)]);
    current.change(Session { title: "new".to_owned(), ..row("a", Status::Idle, 2) });
    current.change(row("b", Status::Idle, 1));
    current.remove(&id("b"));
    current.read([row("a", Status::Idle, 1), row("b", Status::Idle, 1)]);
    assert_eq!(names(&current), ["a"]);
    assert_eq!(current.get(&id("a")).unwrap().title, "new");
    current.change(row("b", Status::Idle, 1));
    assert_eq!(names(&current), ["a", "b"], "what went may come back");
}

/// Something that happens to a list.
#[derive(Debug, Clone)]
enum Happening {
    Read(Session),
    Changed(Session),
    Removed(SessionId),
    WorksWith(Vec<SessionId>),
    LooksAt(Option<SessionId>),
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let ids = || "[a-f]".prop_map(|text| id(&text));
    let statuses = [Status::Idle, Status::Streaming, Status::Waiting, Status::Error];
    let row = (
        "[a-f]",
        prop::sample::select(statuses.to_vec()),
        0_i64..5,
        0_u32..2,
        any::<bool>(),
        any::<bool>(),
    );
    let rows = row.prop_map(|(id, status, at, child_count, pinned, archived)| Session {
        child_count,
        pinned,
        archived,
        ..self::row(&id, status, at)
    });
    let rows = rows.boxed();
    prop::collection::vec(
        prop_oneof![
            rows.clone().prop_map(Happening::Read),
            rows.prop_map(Happening::Changed),
            ids().prop_map(Happening::Removed),
            prop::collection::vec(ids(), 0..4).prop_map(Happening::WorksWith),
            prop::option::of(ids()).prop_map(Happening::LooksAt),
        ],
        0..40,
    )
}

#[test]
fn a_title_is_the_first_line_that_says_something() {
    assert_eq!(title_from_prompt("\n  Fix the build \nplease"), "Fix the build");
    assert_eq!(title_from_prompt("   "), "");
    let long = title_from_prompt(&"word ".repeat(40));
    assert!(long.ends_with("word…") && long.chars().count() <= 65, "{long}");
}

proptest! {
    #[test]
    fn the_order_is_total_and_antisymmetric(rows in rows()) {
        for left in &rows {
            for right in &rows {
                prop_assert_eq!(newest_first(left, right), newest_first(right, left).reverse());
                if left.session_id != right.session_id {
                    prop_assert_ne!(newest_first(left, right), Ordering::Equal);
                }
            }
        }
    }

    #[test]
    fn a_list_kept_step_by_step_is_the_one_sorted_as_a_whole(
        view in prop::sample::select(vec![ListView::Leaves, ListView::Visible, ListView::Archived]),
        happenings in happenings(),
    ) {
        let mut listing = Listing::new(view);
        let mut known: HashMap<SessionId, (Option<Session>, bool)> = HashMap::new();
        let (mut active, mut focused) = (Vec::new(), None);
        for happening in happenings {
            match happening {
                Happening::Read(row) => {
                    listing.read([row.clone()]);
                    let known = known.entry(row.session_id.clone()).or_insert((None, false));
                    if !known.1 {
                        known.0 = Some(row);
                    }
                }
                Happening::Changed(row) => {
                    listing.change(row.clone());
                    known.insert(row.session_id.clone(), (Some(row), true));
                }
                Happening::Removed(id) => {
                    listing.remove(&id);
                    known.insert(id, (None, true));
                }
                Happening::WorksWith(ids) => {
                    listing.work_with(&ids);
                    active = ids;
                }
                Happening::LooksAt(id) => {
                    listing.look_at(id.clone());
                    focused = id;
                }
            }
            let mut whole: Vec<_> = known
                .values()
                .filter_map(|(row, _)| row.as_ref())
                .filter(|row| view.holds(row, focused.as_ref()))
                .collect();
            let group = |row| if view == ListView::Leaves { group(row, &active) } else { 0 };
            whole.sort_by(|left, right| {
                group(left).cmp(&group(right)).then_with(|| newest_first(left, right))
            });
            let kept: Vec<_> = listing.rows().iter().map(|row| &**row).collect();
            prop_assert_eq!(&kept, &whole);
            for (place, row) in whole.iter().enumerate() {
                prop_assert_eq!(listing.position(&row.session_id), Some(place));
            }
        }
    }

    #[test]
    fn shortening_never_panics_and_never_lengthens(text in "\\PC{0,80}", longest in 1_usize..40) {
        let short = shorten(&text, longest);
        prop_assert!(short.chars().count() <= longest + 1);
        prop_assert!(short == text || short.ends_with('…'));
    }
}
