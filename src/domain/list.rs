//! The views of the session list, their order, and what a row shows.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::ids::SessionId;
use super::lineage::{Lineages, Node};
use super::resolver::visible;
use super::session::Session;

/// Which rows a list shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ListView {
    /// Rows that no other hangs on.
    Leaves,
    /// What ordinary navigation can open.
    #[default]
    Visible,
    /// Every row, records of earlier parts and archived ones included.
    All,
    /// Conversations that were put away.
    Archived,
}

impl ListView {
    /// Tells whether a row stands in the view. Leaves stand beside what a person is in the middle
    /// of: it runs or waits, is pinned or in view.
    pub fn holds(self, row: &Session, focused: Option<&SessionId>) -> bool {
        let held = || row.status.is_running() || row.pinned || focused == Some(&row.session_id);
        match self {
            Self::All => true,
            Self::Archived => row.archived && is_shown(row),
            Self::Visible => !row.archived && is_shown(row),
            Self::Leaves => !row.archived && (row.child_count == 0 || held()) && is_shown(row),
        }
    }
}

/// Tells whether the resolver leads from a row to itself, which alone makes it a row of a list. All
/// that it asks of the others, the server has put into the row.
fn is_shown(row: &Session) -> bool {
    !row.pre_compression_snapshot || !visible(&Lineages::new(&[Node::from(row)], false)).is_empty()
}

/// Groups rows: what runs or waits for an answer, what is pinned, what this reader works with, then
/// history.
pub fn group(session: &Session, active: &[SessionId]) -> u8 {
    match session.status.is_running() {
        true => 0,
        false if session.pinned => 1,
        false if active.contains(&session.session_id) => 2,
        false => 3,
    }
}

/// Orders two rows by last activity, creation and id, newest first.
pub fn newest_first(left: &Session, right: &Session) -> Ordering {
    right
        .last_activity_at
        .cmp(&left.last_activity_at)
        .then_with(|| right.created_at.cmp(&left.created_at))
        .then_with(|| right.session_id.cmp(&left.session_id))
}

/// Makes a title of the first line of a prompt.
pub fn title_from_prompt(prompt: &str) -> String {
    const LONGEST: usize = 64;
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    shorten(line, LONGEST)
}

/// Makes the line that a list row shows of a text.
pub fn preview(text: &str) -> String {
    const LONGEST: usize = 120;
    shorten(text.trim(), LONGEST)
}

/// Cuts a text to a number of characters, at a word where one is near.
pub fn shorten(text: &str, longest: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(longest) else {
        return text.to_owned();
    };
    let head = text.get(..end).unwrap_or_default();
    let cut = match head.rfind(' ') {
        Some(space) if space * 3 > end * 2 => head.get(..space).unwrap_or(head),
        _ => head,
    };
    let mut short = cut.trim_end().to_owned();
    short.push('…');
    short
}

/// Names a conversation that nobody has named yet.
pub fn shown_title(title: &str) -> &str {
    if title.is_empty() { "New conversation" } else { title }
}
