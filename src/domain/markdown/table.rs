//! Reads the rows of a table into cells.

use super::link::closing_run;
use super::slice::{after, before, find_any, run};
use super::{Alignment, Inline, inline};

/// How many missing cells one table is given, so that short rows under an absurdly wide head
/// do not grow with the square of the text.
const PADDING: usize = 10_000;

/// Collects the rows of a table that may go on.
pub(super) struct Table {
    pub alignments: Vec<Alignment>,
    pub head: Vec<Vec<Inline>>,
    pub rows: Vec<Vec<Vec<Inline>>>,
    padding: usize,
}

impl Table {
    /// Begins a table if the second line delimits as many columns as the first one names.
    pub fn begin(head: &str, delimiters: &str) -> Option<Self> {
        find_any(delimiters, b"|")?;
        let mut alignments = Vec::new();
        for cell in split(delimiters) {
            alignments.push(alignment(&cell)?);
        }
        let head = split(head);
        if head.len() != alignments.len() {
            return None;
        }
        Some(Self { alignments, head: parse(&head), rows: Vec::new(), padding: PADDING })
    }

    /// Adds a row, filled up to the width of the head.
    pub fn push(&mut self, line: &str) {
        let mut row = parse(&split(line));
        while row.len() < self.head.len() && self.padding > 0 {
            row.push(Vec::new());
            self.padding -= 1;
        }
        self.rows.push(row);
    }
}

fn parse(cells: &[String]) -> Vec<Vec<Inline>> {
    cells.iter().map(|cell| inline::parse(cell.trim_ascii())).collect()
}

/// Reads a cell of the line under a table's head.
fn alignment(cell: &str) -> Option<Alignment> {
    let cell = cell.trim_ascii();
    let left = run(cell, b':');
    let dashes = run(after(cell, left), b'-');
    let right = run(after(cell, left + dashes), b':');
    if dashes == 0 || left + dashes + right != cell.len() {
        return None;
    }
    match (left, right) {
        (0, 0) => Some(Alignment::None),
        (1, 0) => Some(Alignment::Left),
        (1, 1) => Some(Alignment::Center),
        (0, 1) => Some(Alignment::Right),
        _ => None,
    }
}

/// Splits a row at its pipes, but for those escaped or within a code span.
fn split(line: &str) -> Vec<String> {
    let mut rest = line.trim_ascii();
    rest = after(rest, run(rest, b'|').min(1));
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut missing = 0;
    // How much of the line is left after the last code span.
    let mut code_end = usize::MAX;
    while let Some(at) = find_any(rest, b"|\\`") {
        cell.push_str(before(rest, at));
        rest = after(rest, at);
        let in_code = rest.len() > code_end;
        let length = match rest.as_bytes() {
            [b'|', ..] if !in_code => {
                cells.push(core::mem::take(&mut cell));
                rest = after(rest, 1);
                continue;
            }
            [b'\\', b'|', ..] => {
                rest = after(rest, 1);
                1
            }
            [b'\\', b'\\', ..] => 2,
            [b'`', ..] => {
                let ticks = run(rest, b'`');
                if !in_code && let Some(close) = closing_run(rest, ticks, &mut missing) {
                    code_end = rest.len() - close - ticks;
                }
                ticks
            }
            _ => 1,
        };
        cell.push_str(before(rest, length));
        rest = after(rest, length);
    }
    cell.push_str(rest);
    if !cell.is_empty() || cells.is_empty() {
        cells.push(cell);
    }
    cells
}
