//! Where a long list stands in what scrolls it.

use std::time::Duration;

use leptos::prelude::{request_animation_frame, set_timeout};
use web_sys::{Element, HtmlElement};

use crate::domain::window::Place;

/// Measures a list in what scrolls it, unless it is not shown.
pub fn place_of(scroller: &Element, list: &Element) -> Option<Place> {
    let row_height = list.first_element_child()?.get_bounding_client_rect().height();
    if row_height <= 0.0 {
        return None;
    }
    let seen = scroller.get_bounding_client_rect();
    let whole = list.get_bounding_client_rect();
    Some(Place {
        top: f64::from(scroller.scroll_top()),
        above: seen.top() - whole.top(),
        below: whole.bottom() - seen.bottom(),
        height: seen.height(),
        row_height,
    })
}

pub fn scroll_to(scroller: &Element, top: f64) {
    scroller.set_scroll_top(top as i32);
}

pub fn scroll_by(scroller: &Element, pixels: f64) {
    scroller.set_scroll_top(scroller.scroll_top() + pixels as i32);
}

/// Leaves room for rows above and below those that are on the page.
pub fn leave_room(list: &HtmlElement, above: usize, below: usize) {
    let room = |rows: usize| ["calc(var(--row-height) * ", &rows.to_string(), ")"].concat();
    for (side, rows) in [("padding-block-start", above), ("padding-block-end", below)] {
        // A length is never refused.
        let _ = list.style().set_property(side, &room(rows));
    }
}

/// Calls back in a task of its own, once what waits already had its turn.
pub fn next_task(call: impl FnOnce() + 'static) {
    set_timeout(call, Duration::ZERO);
}

/// Calls back when the page has changed and nobody has seen it yet.
pub fn next_frame(call: impl FnOnce() + 'static) {
    request_animation_frame(call);
}
