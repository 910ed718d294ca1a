//! Reads Markdown as typed blocks, never as HTML: whatever is not understood stays text.
//!
//! - `blocks`: lines into blocks, with the containers that are open kept on a stack.
//! - `open`: what is open.
//! - `line`: one line from left to right, in columns.
//! - `table`: the rows of a table into cells.
//! - `inline`: the text of a block into pieces, links first.
//! - `emphasis`: those pieces into nested emphasis.
//! - `link`: which targets are safe, and how they are written.
//! - `plain`: blocks back into text, for previews.
//! - `slice`: what all of them cut and search text with.
//!
//! Nesting is bounded everywhere, so that no text can exhaust the stack, and no step looks back
//! further than a fixed number of openers, so that no text takes more than linear time.

mod blocks;
mod emphasis;
mod inline;
mod line;
mod link;
mod open;
mod plain;
mod slice;
mod table;

pub use plain::plain_text;

/// Holds one block of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    Heading {
        level: u8,
        content: Vec<Inline>,
    },
    Paragraph(Vec<Inline>),
    /// `title` is what a fence says after its language, often a file name.
    Code {
        language: String,
        title: String,
        text: String,
    },
    Quote(Vec<Block>),
    /// `start` is absent for bullets.
    List {
        start: Option<u32>,
        tight: bool,
        items: Vec<Item>,
    },
    /// A row may hold more cells than the head, never fewer (but for absurdly wide tables).
    Table {
        alignments: Vec<Alignment>,
        head: Vec<Vec<Inline>>,
        rows: Vec<Vec<Vec<Inline>>>,
    },
    Rule,
}

/// Holds one item of a list; `task` says whether its box is ticked, if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    pub task: Option<bool>,
    pub blocks: Vec<Block>,
}

/// Names the side to which a table's column is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alignment {
    None,
    Left,
    Center,
    Right,
}

/// Holds a stretch of a block's text; a soft line break is a newline within `Text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Inline {
    Text(String),
    Code(String),
    Emphasis(Vec<Inline>),
    Strong(Vec<Inline>),
    Strike(Vec<Inline>),
    /// The target is safe to follow: `http`, `https`, `mailto`, or relative. Links never nest.
    Link {
        target: String,
        title: String,
        content: Vec<Inline>,
    },
    /// The target is safe in the same sense as a link's.
    Image {
        target: String,
        title: String,
        alt: String,
    },
    Break,
}

/// Parses a whole text.
pub fn parse(text: &str) -> Vec<Block> {
    blocks::parse(text).blocks
}

/// Parses a growing text: only its last top-level block is parsed again on each push.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// How much of the text, at its beginning, made the blocks that are settled.
    done: usize,
    /// The text after that.
    rest: String,
    /// How many blocks at the beginning were let go of.
    forgotten: usize,
    blocks: Vec<Block>,
    settled: usize,
}

impl Document {
    /// Parses the text a document begins with.
    pub fn new(text: &str) -> Self {
        let mut document = Self::default();
        document.push(text);
        document
    }

    /// Appends text.
    pub fn push(&mut self, delta: &str) {
        self.rest.push_str(delta);
        let parsed = blocks::parse(&self.rest);
        self.blocks.truncate(self.settled - self.forgotten);
        self.blocks.extend(parsed.blocks);
        self.settled += parsed.last_index;
        self.done += parsed.last_offset;
        self.rest.drain(..parsed.last_offset);
    }

    /// Gives what a text has beyond this document, if it goes on from it. Settled text is not kept
    /// and cannot be compared: a text may grow, or be another from there on.
    pub fn beyond<'a>(&self, text: &'a str) -> Option<&'a str> {
        text.get(self.done..)?.strip_prefix(self.rest.as_str())
    }

    /// Returns the same blocks as `parse` would for the text so far, without those let go of.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Returns a block by its place, which stays the same whatever is let go of.
    pub fn block(&self, place: usize) -> Option<&Block> {
        self.blocks.get(place.checked_sub(self.forgotten)?)
    }

    /// Counts the blocks, with those let go of.
    pub fn count(&self) -> usize {
        self.forgotten + self.blocks.len()
    }

    /// Lets go of blocks at the beginning that no further word can change.
    pub fn forget(&mut self, before: usize) {
        let going = before.min(self.settled).saturating_sub(self.forgotten);
        self.blocks.drain(..going);
        self.forgotten += going;
    }

    /// Counts the leading blocks that no further push can change.
    pub fn settled(&self) -> usize {
        self.settled
    }
}
