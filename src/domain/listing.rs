//! The rows of one view in their order, kept as rows come, change and go.
//!
//! Every change finds its place by halving, so that it costs the same among a hundred thousand rows
//! as among fifty; nothing is ever sorted as a whole.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::ids::SessionId;
use super::list::{ListView, group, newest_first};
use super::session::Session;

#[derive(Debug, Clone, Default)]
pub struct Listing {
    view: ListView,
    /// Every row that was heard of, also those that do not stand in the view now.
    known: HashMap<SessionId, Arc<Session>>,
    shown: Vec<Arc<Session>>,
    /// Rows of which there was news; what a page says of them is older.
    news: HashSet<SessionId>,
    active: Vec<SessionId>,
    focused: Option<SessionId>,
}

impl Listing {
    pub fn new(view: ListView) -> Self {
        Self { view, ..Self::default() }
    }

    /// Gives the rows of the view in order.
    pub fn rows(&self) -> &[Arc<Session>] {
        &self.shown
    }

    /// Finds a row that was heard of, whether it stands in the view or not.
    pub fn get(&self, id: &SessionId) -> Option<&Arc<Session>> {
        self.known.get(id)
    }

    /// Tells at which place of the view a row stands.
    pub fn position(&self, id: &SessionId) -> Option<usize> {
        self.search(self.known.get(id)?).ok()
    }

    /// Takes in rows as they were read; what is known from news stays as it is.
    pub fn read(&mut self, rows: impl IntoIterator<Item = Session>) {
        for row in rows {
            if !self.news.contains(&row.session_id) {
                self.put(row);
            }
        }
    }

    /// Takes in a row that changed.
    pub fn change(&mut self, row: Session) {
        self.news.insert(row.session_id.clone());
        self.put(row);
    }

    /// Lets go of a row that went; it may come back.
    pub fn remove(&mut self, id: &SessionId) {
        self.take_out(id);
        self.known.remove(id);
        self.news.insert(id.clone());
    }

    /// Notes which conversations the reader works with.
    pub fn work_with(&mut self, active: &[SessionId]) {
        let moved = |id: &&SessionId| self.active.contains(id) != active.contains(id);
        let moved: Vec<_> = self.active.iter().chain(active).filter(moved).cloned().collect();
        for id in &moved {
            self.take_out(id);
        }
        self.active = active.to_vec();
        for id in &moved {
            self.bring_in(id);
        }
    }

    /// Notes which conversation is in view.
    pub fn look_at(&mut self, focused: Option<SessionId>) {
        let concerned: Vec<_> = self.focused.iter().chain(&focused).cloned().collect();
        for id in &concerned {
            self.take_out(id);
        }
        self.focused = focused;
        for id in &concerned {
            self.bring_in(id);
        }
    }

    fn put(&mut self, row: Session) {
        self.take_out(&row.session_id);
        let id = row.session_id.clone();
        self.known.insert(id.clone(), Arc::new(row));
        self.bring_in(&id);
    }

    fn take_out(&mut self, id: &SessionId) {
        if let Some(position) = self.position(id) {
            self.shown.remove(position);
        }
    }

    fn bring_in(&mut self, id: &SessionId) {
        let Some(row) = self.known.get(id).cloned() else { return };
        if self.view.holds(&row, self.focused.as_ref())
            && let Err(position) = self.search(&row)
        {
            self.shown.insert(position, row);
        }
    }

    /// Finds the place of a row, or the one where it belongs.
    fn search(&self, wanted: &Session) -> Result<usize, usize> {
        self.shown.binary_search_by(|row| self.compare(row, wanted))
    }

    /// Orders two rows; only what is current is grouped by what goes on in it.
    fn compare(&self, left: &Session, right: &Session) -> Ordering {
        let group = |row| match self.view {
            ListView::Leaves => group(row, &self.active),
            _ => 0,
        };
        group(left).cmp(&group(right)).then_with(|| newest_first(left, right))
    }
}
