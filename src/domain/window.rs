//! The part of a long list that is on the page: the rows in sight, and some around them.
//!
//! All rows are equally high, so the place of each is known without asking the browser.

/// How many rows beyond those in sight are on the page on either side.
const AROUND: usize = 8;

/// How many rows come and go together, so that most scrolling changes nothing.
const STEP: usize = 8;

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

    /// Gives the rows in sight; none, while the list is at its beginning, where new rows may push
    /// others away.
    pub fn in_sight(&self) -> Window {
        let first = (self.above / self.row_height).max(0.0) as usize;
        let count = (self.height / self.row_height) as usize + 2;
        Window { first, count: if self.above > 0.0 { count } else { 0 } }
    }

    /// Gives the rows that belong on the page.
    pub fn on_page(&self) -> Window {
        let first = (self.above / self.row_height).max(0.0) as usize;
        let count = (self.height / self.row_height) as usize + 2;
        let first = first.saturating_sub(AROUND) / STEP * STEP;
        Window { first, count: count + 2 * AROUND + STEP }
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

    pub fn shifted(self, places: isize) -> Self {
        Self { first: self.first.saturating_add_signed(places), ..self }
    }
}
