//! Which rows of the list are on the page, as the reader scrolls and as rows come and go.

use leptos::html::{Nav, Ul};
use leptos::prelude::*;

use super::platform;
use super::state::AppState;
use crate::domain::ids::SessionId;
use crate::domain::listing::Listing;
use crate::domain::window::{Place, Window};

/// What is on the page before anybody scrolls: as many rows as the server's page holds.
const AT_FIRST: Window = Window { first: 0, count: 50 };

#[derive(Clone, Copy)]
pub struct Sight {
    pub scroller: NodeRef<Nav>,
    pub list: NodeRef<Ul>,
    pub window: RwSignal<Window>,
    /// Where the list was when it was last seen; a phone forgets that while it shows something
    /// else.
    place: StoredValue<Option<Place>>,
    in_sight: StoredValue<Window>,
    /// Whether the next frame will look where the list stands.
    looks_soon: StoredValue<bool>,
}

/// What a look at the list found.
struct Look {
    near_end: bool,
    /// More rows are to come onto the page.
    unfinished: bool,
}

impl Sight {
    pub fn new() -> Self {
        Self {
            scroller: NodeRef::new(),
            list: NodeRef::new(),
            window: RwSignal::new(AT_FIRST),
            place: StoredValue::new(None),
            in_sight: StoredValue::default(),
            looks_soon: StoredValue::default(),
        }
    }

    /// Goes back to the beginning, for another list.
    pub fn reset(self) {
        self.place.set_value(None);
        self.in_sight.set_value(Window::default());
        self.window.set(AT_FIRST);
        if let Some(scroller) = self.scroller.get_untracked() {
            platform::scroll_to(&scroller, 0.0);
        }
    }

    /// Brings the list back to where it was when it was last seen.
    pub fn restore(self) {
        let place = self.place.get_value();
        if let (Some(scroller), Some(place)) = (self.scroller.get_untracked(), place) {
            platform::next_frame(move || platform::scroll_to(&scroller, place.top));
        }
    }

    /// Looks where the list stands, if it is on the page, and brings rows onto it.
    fn look(self) -> Option<Look> {
        let (scroller, list) = (self.scroller.get_untracked()?, self.list.get_untracked()?);
        let place = platform::place_of(&scroller, &list)?;
        self.place.set_value(Some(place));
        self.in_sight.set_value(place.in_sight());
        let now = self.window.get_untracked();
        let next = place.next_on_page(now);
        if next != now {
            platform::keep_row_focus();
            self.window.set(next);
        }
        Some(Look { near_end: place.is_near_end(), unfinished: next != now })
    }

    /// Names the rows that must stay where they are.
    fn rows_in_sight(self, rows: &Listing) -> Vec<SessionId> {
        let in_sight = self.in_sight.get_value().of(rows.rows());
        in_sight.iter().map(|row| row.session_id.clone()).collect()
    }

    /// Follows the rows that were in sight to their new places.
    fn follow(self, rows: &Listing, in_sight: &[SessionId]) {
        let places: Vec<_> = in_sight.iter().map(|id| rows.position(id)).collect();
        let moved = self.in_sight.get_value().moved(&places);
        let place = self.place.get_value().filter(|_| moved != 0);
        let (Some(place), Some(scroller)) = (place, self.scroller.get_untracked()) else { return };
        let pixels = moved as f64 * place.row_height;
        self.in_sight.update_value(|window| *window = window.shifted(moved));
        self.window.update(|window| *window = window.shifted(moved));
        self.place.set_value(Some(Place { top: place.top + pixels, ..place }));
        // By then the rows have their new places, and nobody has seen them yet.
        platform::next_frame(move || platform::scroll_by(&scroller, pixels));
    }

    /// Changes the rows of a list, and keeps those in sight where they are.
    pub fn keep(self, rows: &ArcRwSignal<Listing>, change: impl FnOnce(&mut Listing)) {
        let in_sight = rows.with_untracked(|rows| self.rows_in_sight(rows));
        rows.update(change);
        rows.with_untracked(|rows| self.follow(rows, &in_sight));
    }
}

impl AppState {
    /// Looks where the list stands with the next frame, once, however often it is asked to: each
    /// look measures the page, and a second one in a frame would lay it out again.
    pub fn look_at_list(self) {
        if !self.sight.looks_soon.get_value() {
            self.sight.looks_soon.set_value(true);
            platform::next_frame(move || self.look_now());
        }
    }

    fn look_now(self) {
        self.sight.looks_soon.set_value(false);
        let Some(look) = self.sight.look() else { return };
        if look.unfinished {
            self.look_at_list();
        }
        if look.near_end
            && let Some(open) = self.list.get_value()
        {
            // Asking takes a phone as long as making rows does, so it is not done with them.
            platform::next_task(move || open.fetch_next(self));
        }
    }
}
