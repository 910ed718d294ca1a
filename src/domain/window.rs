//! The part of a long list that is on the page: the rows in sight, and some around them.
//!
//! All rows are equally high, so the place of each is known without asking the browser.

/// How many rows beyond those in sight are on the page on either side.
const AROUND: usize = 4;

/// How many of these there must be, so that most scrolling changes nothing.
const AT_LEAST: usize = 2;

/// How many rows are made at once at most: on a slow phone each takes milliseconds, and a person who
/// scrolls must not wait for them all.
const AT_ONCE: usize = 2;

/// How many of them are above those on the page: where more than one comes before the others, the
/// view library takes all the others off the page and puts them back.
const ABOVE_AT_ONCE: usize = 1;

/// How many rows leave at once at most, unless none of them is wanted any more.
const LEAVE_AT_ONCE: usize = 6;

/// A list of this many rows is short.
const SHORT: usize = 100;

/// How near to its end, in pixels, a list goes on.
const NEAR_END: f64 = 1_200.0;

/// Where a list stands in what scrolls it, in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// How far everything is scrolled.
    pub top: f64,
    /// How much of the list is scrolled past, and how much is still to come.
    pub above: f64,
    pub below: f64,
    /// The height of what can be seen, and of one row.
    pub height: f64,
    pub row_height: f64,
}

impl Place {
    pub fn is_near_end(&self) -> bool {
        self.below < NEAR_END
    }

    /// Tells whether more rows than needed may stay on the page, where they can be found.
    fn is_short(&self) -> bool {
        self.above + self.height + self.below <= SHORT as f64 * self.row_height
    }

    /// Gives the rows in sight.
    fn seen(&self) -> Window {
        let first = (self.above / self.row_height).max(0.0) as usize;
        Window { first, count: (self.height / self.row_height) as usize + 2 }
    }

    /// Gives the rows that must stay in sight; none, while the list is at its beginning, where new
    /// rows may push others away.
    pub fn in_sight(&self) -> Window {
        if self.above > 0.0 { self.seen() } else { Window::default() }
    }

    /// Gives the rows to be on the page next, on the way to those that belong there.
    pub fn next_on_page(&self, now: Window) -> Window {
        now.toward(self.on_page(now), self.seen())
    }

    /// Gives the rows that belong on the page: those that are there, as long as they will do.
    fn on_page(&self, now: Window) -> Window {
        let seen = self.seen();
        let most = seen.count + 2 * AROUND;
        let enough = seen.first.saturating_sub(AT_LEAST)..seen.end() + AT_LEAST;
        let is_enough = now.first <= enough.start && now.end() >= enough.end;
        if is_enough && (now.count <= most || self.is_short()) {
            return now;
        }
        Window { first: seen.first.saturating_sub(AROUND), count: most }
    }
}

/// Some rows of a list, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Window {
    pub first: usize,
    pub count: usize,
}

impl Window {
    pub fn of<T: Clone>(self, rows: &[T]) -> Vec<T> {
        rows.iter().skip(self.first).take(self.count).cloned().collect()
    }

    /// Tells how many of some rows are left out before and after.
    pub fn left_out(self, rows: usize) -> (usize, usize) {
        (self.first.min(rows), rows.saturating_sub(self.first + self.count))
    }

    /// Tells by how many places its rows have moved, given where they are now. One of them may
    /// have moved by itself, so two that are still neighbours tell it.
    pub fn moved(self, places: &[Option<usize>]) -> isize {
        let moved = places.windows(2).enumerate().find_map(|(offset, pair)| match pair {
            [Some(place), Some(next)] if place + 1 == *next => {
                Some(*place as isize - (self.first + offset) as isize)
            }
            _ => None,
        });
        moved.unwrap_or_default()
    }

    fn end(self) -> usize {
        self.first + self.count
    }

    /// Goes some rows on toward others, those that are seen before the rest.
    fn toward(self, target: Self, seen: Self) -> Self {
        let (mut first, mut end) = (self.first.max(target.first), self.end().min(target.end()));
        if first >= end {
            (first, end) = (seen.first, seen.first);
        } else {
            first = first.min(self.first + LEAVE_AT_ONCE);
            end = end.max(self.end().saturating_sub(LEAVE_AT_ONCE));
        }
        let (mut left, mut left_above) = (AT_ONCE, ABOVE_AT_ONCE);
        for wanted in [seen, target] {
            let below = wanted.end().min(target.end()).saturating_sub(end).min(left);
            end += below;
            left -= below;
            let above = first.saturating_sub(wanted.first.max(target.first));
            let above = above.min(left).min(left_above);
            first -= above;
            left -= above;
            left_above -= above;
        }
        Self { first, count: end - first }
    }

    pub fn shifted(self, places: isize) -> Self {
        Self { first: self.first.saturating_add_signed(places), ..self }
    }
}
