//! The order of the session list and what a row shows.

use std::cmp::Ordering;

use super::session::Session;

/// Groups rows: what runs or waits for an answer, then the rest.
fn group(session: &Session) -> u8 {
    u8::from(!session.status.is_running())
}

/// Orders two rows: group, then last activity, creation and id, newest first.
pub fn compare(left: &Session, right: &Session) -> Ordering {
    group(left)
        .cmp(&group(right))
        .then_with(|| right.last_activity_at.cmp(&left.last_activity_at))
        .then_with(|| right.created_at.cmp(&left.created_at))
        .then_with(|| right.session_id.cmp(&left.session_id))
}

/// Puts changed rows into an ordered list in place of their older selves.
pub fn merge(rows: &mut Vec<Session>, changed: Vec<Session>) {
    rows.retain(|row| !changed.iter().any(|newer| newer.session_id == row.session_id));
    rows.extend(changed);
    rows.sort_by(compare);
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
