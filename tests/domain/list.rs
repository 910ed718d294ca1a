use std::cmp::Ordering;

use proptest::prelude::*;
use throughline::domain::ids::SessionId;
use throughline::domain::list::{compare, merge, shorten, title_from_prompt};
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

#[test]
fn what_runs_or_waits_comes_before_newer_history() {
    let mut list = [
        row("history", Status::Idle, 9),
        row("waiting", Status::Waiting, 1),
        row("streaming", Status::Streaming, 2),
        row("failed", Status::Error, 8),
    ];
    list.sort_by(|left, right| compare(left, right, &[]));
    let order: Vec<_> = list.iter().map(|row| row.session_id.as_str()).collect();
    assert_eq!(order, ["streaming", "waiting", "history", "failed"]);
}

#[test]
fn what_a_reader_works_with_comes_before_newer_history() {
    let active = [SessionId::parse("mine").unwrap()];
    let mut list = [
        row("history", Status::Idle, 9),
        row("mine", Status::Idle, 1),
        row("streaming", Status::Streaming, 0),
    ];
    list.sort_by(|left, right| compare(left, right, &active));
    let order: Vec<_> = list.iter().map(|row| row.session_id.as_str()).collect();
    assert_eq!(order, ["streaming", "mine", "history"]);
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
                prop_assert_eq!(compare(left, right, &[]), compare(right, left, &[]).reverse());
                if left.session_id != right.session_id {
                    prop_assert_ne!(compare(left, right, &[]), Ordering::Equal);
                }
            }
        }
    }

    #[test]
    fn merging_leaves_one_row_for_each_id_and_the_newer_one(mut rows in rows(), changed in rows()) {
        let mut newer = Vec::new();
        for row in changed {
            newer.retain(|known: &Session| known.session_id != row.session_id);
            newer.push(row);
        }
        rows.dedup_by(|left, right| left.session_id == right.session_id);
        let expected = newer.clone();
        merge(&mut rows, newer, &[]);
        for row in expected {
            let found: Vec<_> = rows.iter().filter(|it| it.session_id == row.session_id).collect();
            prop_assert_eq!(found, vec![&row]);
        }
    }

    #[test]
    fn shortening_never_panics_and_never_lengthens(text in "\\PC{0,80}", longest in 1_usize..40) {
        let short = shorten(&text, longest);
        prop_assert!(short.chars().count() <= longest + 1);
        prop_assert!(short == text || short.ends_with('…'));
    }
}
