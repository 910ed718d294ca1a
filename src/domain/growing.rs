//! A text that grows, and what of it changed: a view draws that and leaves the rest alone.
//!
//! Blocks that no further word can change are never looked at again. A long block that still grows,
//! such as code, a list or a table, is told apart by its rows.

use super::highlight::{Line, highlight};
use super::markdown::{Block, Document, Inline, Item};

/// A block or a row by its place, and how often it has changed.
pub type Key = (usize, u32);

#[derive(Debug, Default)]
pub struct Growing {
    document: Document,
    versions: Vec<u32>,
    open: Vec<Open>,
    /// How often another text took the place of what was known.
    begun_anew: u32,
}

/// One row of a block that is made of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    Line(Line),
    Item(Item),
    Cells(Vec<Vec<Inline>>),
}

/// A block that may still get more rows.
#[derive(Debug)]
struct Open {
    place: usize,
    rows: Vec<Row>,
    versions: Vec<u32>,
}

impl Growing {
    /// Takes in the text as it is now, and gives the places of blocks of which only rows changed.
    pub fn follow(&mut self, text: &str) -> Vec<usize> {
        let settled = self.document.settled();
        // What settled with the last words was still drawn after them.
        self.open.retain(|open| open.place >= settled);
        let known: Vec<_> =
            blocks_from(&self.document, settled).map(|(_, block)| block.clone()).collect();
        match self.document.beyond(text) {
            Some(more) => self.document.push(more),
            None => self.begin_anew(text),
        }
        self.versions.resize(self.document.count(), 0);
        let (still_open, mut grown) = (self.document.settled(), Vec::new());
        for (place, block) in blocks_from(&self.document, settled) {
            let before = place.checked_sub(settled).and_then(|place| known.get(place));
            if before == Some(block) {
                continue;
            }
            let open = self.open.iter_mut().find(|open| open.place == place);
            match (before, open) {
                (Some(before), Some(open)) if has_same_frame(before, block) => {
                    open.grow(rows_of(block));
                    grown.push(place);
                }
                (before, _) => {
                    self.open.retain(|open| open.place != place);
                    self.open.extend(Open::new(place, block).filter(|_| place >= still_open));
                    if let Some(version) = self.versions.get_mut(place).filter(|_| before.is_some())
                    {
                        *version += 1;
                    }
                }
            }
        }
        grown
    }

    fn begin_anew(&mut self, text: &str) {
        self.begun_anew += 1;
        self.document = Document::new(text);
        self.versions.iter_mut().for_each(|version| *version += 1);
        self.open.clear();
        let blocks = blocks_from(&self.document, self.document.settled());
        self.open.extend(blocks.filter_map(|(place, block)| Open::new(place, block)));
    }

    /// Gives the blocks from a place on.
    pub fn blocks(&self, from: usize) -> Vec<Key> {
        self.versions.iter().copied().enumerate().skip(from).collect()
    }

    /// Lets go of the blocks before a place, which nobody looks at any more.
    pub fn forget(&mut self, before: usize) {
        self.document.forget(before);
    }

    pub fn count(&self) -> usize {
        self.versions.len()
    }

    pub fn block(&self, place: usize) -> Option<&Block> {
        self.document.block(place)
    }

    pub fn version(&self, place: usize) -> u32 {
        self.versions.get(place).copied().unwrap_or_default()
    }

    /// Tells whether no further word can change a block.
    pub fn is_settled(&self, place: usize) -> bool {
        place < self.document.settled()
    }

    /// Tells how often another text took the place of what was known, settled or not.
    pub fn begun_anew(&self) -> u32 {
        self.begun_anew
    }

    /// Gives the rows of a block that may still get more of them, and of no other.
    pub fn rows(&self, place: usize) -> Option<Vec<Key>> {
        self.find(place).map(|open| open.versions.iter().copied().enumerate().collect())
    }

    pub fn row(&self, place: usize, row: usize) -> Option<&Row> {
        self.find(place)?.rows.get(row)
    }

    fn find(&self, place: usize) -> Option<&Open> {
        self.open.iter().find(|open| open.place == place)
    }
}

impl Open {
    fn new(place: usize, block: &Block) -> Option<Self> {
        let rows = rows_of(block);
        let versions = vec![0; rows.len()];
        (!rows.is_empty()).then_some(Self { place, rows, versions })
    }

    fn grow(&mut self, rows: Vec<Row>) {
        self.versions.resize(rows.len(), 0);
        for ((version, row), known) in self.versions.iter_mut().zip(&rows).zip(&self.rows) {
            *version += u32::from(row != known);
        }
        self.rows = rows;
    }
}

/// Gives the blocks from a place on, each with its place.
fn blocks_from(document: &Document, first: usize) -> impl Iterator<Item = (usize, &Block)> {
    (first..document.count()).filter_map(|place| Some((place, document.block(place)?)))
}

/// Takes a block apart; one that is not made of rows has none.
fn rows_of(block: &Block) -> Vec<Row> {
    match block {
        Block::Code { language, text, .. } => {
            highlight(language, text).into_iter().map(Row::Line).collect()
        }
        Block::List { items, .. } => items.iter().cloned().map(Row::Item).collect(),
        Block::Table { rows, .. } => rows.iter().cloned().map(Row::Cells).collect(),
        _ => Vec::new(),
    }
}

/// Tells whether two blocks differ in their rows alone.
fn has_same_frame(one: &Block, other: &Block) -> bool {
    match (one, other) {
        (Block::Code { language, title, .. }, Block::Code { language: l, title: t, .. }) => {
            (language, title) == (l, t)
        }
        (Block::List { start, tight, .. }, Block::List { start: s, tight: t, .. }) => {
            (start, tight) == (s, t)
        }
        (Block::Table { alignments, head, .. }, Block::Table { alignments: a, head: h, .. }) => {
            (alignments, head) == (a, h)
        }
        _ => false,
    }
}
