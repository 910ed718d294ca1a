use throughline::domain::window::{Place, Window};

fn place(above: f64) -> Place {
    Place { top: above + 100.0, above, below: 5_000.0, height: 640.0, row_height: 64.0 }
}

#[test]
fn the_page_holds_what_is_in_sight_and_some_around_it() {
    for above in [-300.0, 0.0, 63.0, 64.0, 6_400.0, 6_399_999.0] {
        let (seen, held) = (place(above).in_sight(), place(above).on_page());
        assert!(held.count < 50, "{above}: {held:?}");
        assert!(held.first <= seen.first, "{above}");
        assert!(held.first + held.count >= seen.first + seen.count, "{above}");
    }
}

#[test]
fn a_little_scrolling_changes_nothing_on_the_page() {
    let held = place(6_400.0).on_page();
    let same = (0..64).filter(|pixels| place(6_400.0 + f64::from(*pixels)).on_page() == held);
    assert_eq!(same.count(), 64);
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
