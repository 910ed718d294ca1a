//! The order of the session list and what a row shows.

use std::cmp::Ordering;

use super::ids::SessionId;
use super::session::Session;

/// Groups rows: what runs or waits for an answer, what this reader works with, then history.
fn group(session: &Session, active: &[SessionId]) -> u8 {
    match session.status.is_running() {
        true => 0,
        false if active.contains(&session.session_id) => 1,
        false => 2,
    }
}

/// Orders two rows: group, then last activity, creation and id, newest first.
pub fn compare(left: &Session, right: &Session, active: &[SessionId]) -> Ordering {
    group(left, active)
        .cmp(&group(right, active))
        .then_with(|| right.last_activity_at.cmp(&left.last_activity_at))
        .then_with(|| right.created_at.cmp(&left.created_at))
        .then_with(|| right.session_id.cmp(&left.session_id))
}

/// Puts changed rows into an ordered list in place of their older selves.
pub fn merge(rows: &mut Vec<Session>, changed: Vec<Session>, active: &[SessionId]) {
    rows.retain(|row| !changed.iter().any(|newer| newer.session_id == row.session_id));
    rows.extend(changed);
    rows.sort_by(|left, right| compare(left, right, active));
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
