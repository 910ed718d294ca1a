//! The list that is open: the rows that were fetched, what changed since, and the pages that follow.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use leptos::prelude::*;
use leptos::reactive::spawn_local;

use super::state::AppState;
use crate::api::lists::{list, overview};
use crate::domain::ids::SessionId;
use crate::domain::list::ListView;
use crate::domain::listing::Listing;
use crate::domain::session::Session;
use crate::wire::error::Failure;
use crate::wire::list::{ListQuery, Overview, ViewCounts};

/// How many rows are fetched again at most when the server is back; further ones follow as the
/// reader comes near them.
const FETCHED_AGAIN: usize = 1_000;

/// How many rows a page has that is fetched again.
const LARGE_PAGE: u32 = 200;

/// Rows that changed since the list was fetched, and those that went.
#[derive(Debug, Clone, Default)]
pub struct RowChanges {
    pub changed: HashMap<SessionId, Session>,
    removed: HashSet<SessionId>,
}

/// One view of the list, as far as it was fetched.
#[derive(Clone)]
pub struct OpenList {
    pub view: ListView,
    pub rows: ArcRwSignal<Listing>,
    /// Where the next page begins; nothing, where the list ends.
    pub next: ArcRwSignal<Option<String>>,
    /// Why the next page could not be fetched.
    pub problem: ArcRwSignal<Option<String>>,
    under_way: ArcRwSignal<bool>,
}

impl OpenList {
    /// Fetches the next page, unless that is being done already.
    pub fn fetch_next(&self, app: AppState) {
        let Some(cursor) = self.next.get_untracked() else { return };
        if self.under_way.get_untracked() {
            return;
        }
        self.under_way.set(true);
        let it = self.clone();
        spawn_local(async move {
            let cursor = Some(cursor);
            let page =
                list(ListQuery { view: it.view, cursor: cursor.clone(), ..Default::default() });
            let page = page.await;
            it.under_way.set(false);
            if it.next.get_untracked() != cursor {
                // The list was fetched again meanwhile. Its own next page was not asked for, since
                // this one was being fetched, and at the end of the list nobody scrolls.
                app.look_at_list();
                return;
            }
            match page {
                Ok(page) => {
                    app.change_rows(&it, |rows| rows.read(page.sessions));
                    it.next.set(page.next_cursor);
                    it.problem.set(None);
                }
                Err(failure) => it.problem.set(Some(failure.message)),
            }
        });
    }

    /// Fetches as many rows anew as there were, in place of those.
    async fn fetch_again(&self, app: AppState) -> Result<(), Failure> {
        let wanted = self.rows.with_untracked(|rows| rows.rows().len()).min(FETCHED_AGAIN);
        let Overview { page, always, counts } = overview(self.view).await?;
        let (mut sessions, mut next) = (page.sessions, page.next_cursor);
        while sessions.len() < wanted && next.is_some() {
            let limit = Some(LARGE_PAGE);
            let page =
                list(ListQuery { view: self.view, cursor: next, limit, ..Default::default() });
            let page = page.await?;
            sessions.extend(page.sessions);
            next = page.next_cursor;
        }
        sessions.extend(always);
        let fresh = app.listing(self.view, sessions);
        app.change_rows(self, |rows| *rows = fresh);
        app.counts.set(Some(counts));
        self.next.set(next);
        self.problem.set(None);
        Ok(())
    }
}

impl AppState {
    /// Opens a list that was fetched; from now on it hears of every change.
    pub fn open_list(self, view: ListView, fetched: Overview) -> OpenList {
        let rows = fetched.page.sessions.into_iter().chain(fetched.always).collect();
        let opened = OpenList {
            view,
            rows: ArcRwSignal::new(self.listing(view, rows)),
            next: ArcRwSignal::new(fetched.page.next_cursor),
            problem: ArcRwSignal::new(None),
            under_way: ArcRwSignal::new(false),
        };
        self.list.set_value(Some(opened.clone()));
        opened
    }

    /// Finds a row of the list that is open.
    pub fn row(self, id: &SessionId) -> Option<Arc<Session>> {
        let open = self.list.get_value()?;
        open.rows.with_untracked(|rows| rows.get(id).cloned())
    }

    /// Gives the rows at the top of the list that is open.
    pub fn first_rows(self, count: usize) -> Vec<Arc<Session>> {
        let open = self.list.get_value();
        let first = |open: OpenList| {
            open.rows.with_untracked(|rows| rows.rows().iter().take(count).cloned().collect())
        };
        open.map(first).unwrap_or_default()
    }

    pub fn has_list(self) -> bool {
        self.list.with_value(Option::is_some)
    }

    /// Shows another view of the list, from its beginning.
    pub fn choose_view(self, view: ListView) {
        if self.view.get_untracked() != view {
            self.chosen.set(None);
            self.sight.reset();
            self.view.set(view);
        }
    }

    /// Puts what changed since over rows that were fetched.
    fn listing(self, view: ListView, fetched: Vec<Session>) -> Listing {
        let mut listing = Listing::new(view);
        listing.look_at(self.in_view.get_untracked());
        self.active.with_untracked(|active| listing.work_with(active));
        self.rows.with_untracked(|changes| {
            changes.changed.values().for_each(|row| listing.change(row.clone()));
            changes.removed.iter().for_each(|id| listing.remove(id));
        });
        listing.read(fetched);
        listing
    }

    /// Changes the rows of a list, and keeps those in sight where they are.
    fn change_rows(self, open: &OpenList, change: impl FnOnce(&mut Listing)) {
        self.sight.keep(&open.rows, change);
        self.look_at_list();
    }

    fn change_list(self, change: impl FnOnce(&mut Listing)) {
        if let Some(open) = self.list.get_value() {
            self.change_rows(&open, change);
        }
    }

    /// Takes in what the server tells of rows; one that went may come back.
    pub(super) fn hear_of_rows(
        self,
        changed: Vec<Session>,
        removed: Vec<SessionId>,
        counts: Option<ViewCounts>,
    ) {
        self.rows.update(|rows| {
            for row in &changed {
                rows.removed.remove(&row.session_id);
                rows.changed.insert(row.session_id.clone(), row.clone());
            }
            for id in &removed {
                rows.changed.remove(id);
                rows.removed.insert(id.clone());
            }
        });
        self.change_list(|rows| {
            changed.into_iter().for_each(|row| rows.change(row));
            removed.iter().for_each(|id| rows.remove(id));
        });
        if counts.is_some() {
            self.counts.set(counts);
        }
    }

    /// Puts fetched rows into the list. They are no news to anything but the list.
    pub fn show_rows(self, rows: Vec<Session>) {
        self.rows.update_untracked(|known| {
            for row in &rows {
                known.changed.entry(row.session_id.clone()).or_insert_with(|| row.clone());
            }
        });
        self.change_list(|known| known.read(rows));
    }

    /// Keeps the row of what is in view in the list.
    pub(super) fn look_at(self, session_id: Option<SessionId>) {
        self.in_view.set(session_id.clone());
        self.change_list(|rows| rows.look_at(session_id));
    }

    /// Lets the list show what the reader works with before all else that is quiet.
    pub(super) fn work_with(self, active: Vec<SessionId>) {
        self.change_list(|rows| rows.work_with(&active));
        self.active.set(active);
    }

    /// Fetches the list anew: what was known of it before the connection broke is history.
    pub(super) fn fetch_list_again(self) {
        self.rows.set(RowChanges::default());
        if let Some(open) = self.list.get_value() {
            spawn_local(async move {
                if let Err(failure) = open.fetch_again(self).await {
                    open.problem.set(Some(failure.message));
                }
            });
        }
    }
}
