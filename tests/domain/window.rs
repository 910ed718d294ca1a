use throughline::domain::window::{Place, Window};

fn place(above: f64) -> Place {
    Place { top: above + 100.0, above, below: 5_000.0, height: 640.0, row_height: 64.0 }
}

/// Lets the page come to rest, and counts the rows that were made at once at most.
fn settle(place: Place, mut held: Window) -> (Window, usize) {
    let mut most = 0;
    for _ in 0..100 {
        let next = place.next_on_page(held);
        let rows = |window: Window| window.first..window.first + window.count;
        most = most.max(rows(next).filter(|row| !rows(held).contains(row)).count());
        if next == held {
            return (held, most);
        }
        held = next;
    }
    panic!("{place:?} never comes to rest: {held:?}");
}

#[test]
fn the_page_holds_what_is_in_sight_and_some_around_it_and_gets_there_by_few_rows() {
    let mut held = Window { first: 0, count: 50 };
    for above in [-300.0, 0.0, 63.0, 64.0, 6_400.0, 6_399_999.0, 6_399_000.0, 6_000.0, 64.0] {
        let seen = place(above).in_sight();
        let (rest, most) = settle(place(above), held);
        held = rest;
        assert!(most <= 2, "{above}: {most} rows at once");
        assert!(held.count <= 50, "{above}: {held:?}");
        assert!(held.first <= seen.first, "{above}");
        assert!(held.first + held.count >= seen.first + seen.count, "{above}");
    }
}

#[test]
fn rows_come_one_by_one_before_those_that_are_there() {
    let mut held = Window { first: 100, count: 20 };
    for above in [99.0, 96.0, 90.0, 85.0] {
        let next = place(above * 64.0).next_on_page(held);
        assert_eq!(next.first, held.first - 1, "{above}");
        held = next;
    }
}

#[test]
fn what_is_seen_comes_before_what_is_around_it() {
    let mut held = Window { first: 0, count: 50 };
    for _ in 0..6 {
        held = place(6_400.0).next_on_page(held);
    }
    assert_eq!(held, Window { first: 100, count: 12 });
}

#[test]
fn rows_leave_by_few_unless_none_is_wanted() {
    let first = Window { first: 0, count: 50 };
    let next = place(45.0 * 64.0).next_on_page(first);
    assert_eq!(next, Window { first: 6, count: 46 });
    let (rest, _) = settle(place(45.0 * 64.0), first);
    assert!(rest.first > 37 && rest.count <= 20, "{rest:?}");
    assert_eq!(place(6_400.0).next_on_page(first).first, 100);
}

#[test]
fn a_short_list_keeps_the_rows_that_are_on_the_page() {
    let short = Place { below: 40.0 * 64.0, ..place(64.0) };
    let held = Window { first: 0, count: 50 };
    assert_eq!(short.next_on_page(held), held);
    assert_ne!(Place { below: 200.0 * 64.0, ..short }.next_on_page(held), held);
}

#[test]
fn half_of_all_scrolling_changes_nothing_on_the_page() {
    let (mut held, _) = settle(place(6_400.0), Window::default());
    let mut changes = 0;
    for row in 0..100 {
        let next = place(6_400.0 + f64::from(row) * 64.0).next_on_page(held);
        changes += u32::from(next != held);
        held = next;
    }
    assert!(changes <= 60, "{changes} changes in a hundred rows");
}

#[test]
fn a_window_that_moved_with_its_rows_will_do() {
    let (held, _) = settle(place(6_400.0), Window::default());
    let moved = held.shifted(3);
    assert_eq!(place(6_400.0 + 3.0 * 64.0).next_on_page(moved), moved);
}

#[test]
fn at_its_beginning_a_list_may_grow_into_sight() {
    assert_eq!(place(-10.0).in_sight().count, 0);
    assert!(place(1.0).in_sight().count > 0);
}

#[test]
fn a_list_near_its_end_is_to_go_on() {
    assert!(!place(0.0).is_near_end());
    assert!(Place { below: 900.0, ..place(0.0) }.is_near_end());
}

#[test]
fn what_is_left_out_and_what_is_held_is_all() {
    for (first, count, rows) in [(0, 50, 10), (16, 30, 100), (90, 30, 100), (200, 30, 100)] {
        let window = Window { first, count };
        let all: Vec<_> = (0..rows).collect();
        let (above, below) = window.left_out(rows);
        assert_eq!(above + window.of(&all).len() + below, rows, "{window:?}");
    }
}

#[test]
fn neighbours_tell_how_far_rows_have_moved() {
    let seen = Window { first: 10, count: 4 };
    let check = |places: [Option<usize>; 4], moved| assert_eq!(seen.moved(&places), moved);
    check([Some(10), Some(11), Some(12), Some(13)], 0);
    check([Some(12), Some(13), Some(14), Some(15)], 2);
    check([Some(0), Some(11), Some(12), Some(13)], 0);
    check([None, Some(10), Some(11), Some(12)], -1);
    check([None, None, None, None], 0);
    assert_eq!(seen.shifted(-20).first, 0);
}
