//! Holds what is open while a text is read: containers, and the leaf in the innermost of them.

use super::line::{CODE_INDENT, Cursor, Fence, Marker};
use super::slice::{after, before, run_back};
use super::table::Table;
use super::{Block, Item, inline};

/// Holds an open quote, or an open list with the item that is open in it.
pub(super) struct Container {
    pub blocks: Vec<Block>,
    pub list: Option<List>,
}

pub(super) struct List {
    pub kind: u8,
    pub tight: bool,
    /// Whether a blank line came last.
    pub blank: bool,
    start: Option<u32>,
    items: Vec<Item>,
    task: Option<bool>,
    /// Columns before the open item's marker and content.
    offset: usize,
    indent: usize,
}

/// Holds an open block that has no blocks within.
pub(super) enum Leaf {
    None,
    Paragraph(String),
    Indented(String),
    Fenced {
        marker: u8,
        length: usize,
        indent: usize,
        language: String,
        title: String,
        text: String,
    },
    Table(Table),
}

impl Container {
    pub fn close(self) -> Block {
        match self.list {
            None => Block::Quote(self.blocks),
            Some(List { start, tight, mut items, task, .. }) => {
                items.push(Item { task, blocks: self.blocks });
                Block::List { start, tight, items }
            }
        }
    }

    /// Takes the box off the first paragraph of a list item.
    pub fn take_task<'a>(&mut self, text: &'a str) -> &'a str {
        let ticked = match text.as_bytes() {
            [b'[', b' ', b']', space, ..] if space.is_ascii_whitespace() => false,
            [b'[', b'x' | b'X', b']', space, ..] if space.is_ascii_whitespace() => true,
            _ => return text,
        };
        match &mut self.list {
            Some(list) if self.blocks.is_empty() => {
                list.task = Some(ticked);
                after(text, 3).trim_ascii_start()
            }
            _ => text,
        }
    }
}

impl List {
    pub fn new(marker: &Marker) -> Self {
        Self {
            kind: marker.kind,
            tight: true,
            blank: false,
            start: marker.start,
            items: Vec::new(),
            task: None,
            offset: marker.offset,
            indent: marker.indent,
        }
    }

    /// Skips the open item's indentation, if the line has it.
    ///
    /// Two columns are enough under a wider marker, since models often indent by two below
    /// `1.`; the item's further lines are then measured by the same width.
    pub fn continues(&mut self, cursor: &mut Cursor) -> bool {
        let indent = cursor.indent();
        if cursor.is_blank() {
            return true;
        }
        if indent < self.indent {
            let mut ahead = *cursor;
            let sibling = ahead.take_marker();
            if self.indent == usize::MAX
                || indent < self.offset + 2
                || sibling.is_some_and(|marker| marker.kind == self.kind)
            {
                return false;
            }
            self.indent = indent;
        }
        cursor.skip(self.indent);
        true
    }

    /// Ends the open item and begins the next.
    pub fn advance(&mut self, marker: &Marker, blocks: &mut Vec<Block>) {
        self.tight &= !self.blank;
        self.items.push(Item { task: self.task.take(), blocks: core::mem::take(blocks) });
        self.offset = marker.offset;
        self.indent = marker.indent;
    }

    /// Lets no line continue the open item any more.
    pub fn seal(&mut self) {
        self.indent = usize::MAX;
    }
}

impl Leaf {
    pub fn fenced(fence: &Fence) -> Self {
        Leaf::Fenced {
            marker: fence.marker,
            length: fence.length,
            indent: fence.indent,
            language: fence.language.to_owned(),
            title: fence.title.to_owned(),
            text: String::new(),
        }
    }

    /// Begins a paragraph, or code if the text is indented.
    pub fn from_text(mut cursor: Cursor) -> Self {
        if cursor.indent() < CODE_INDENT {
            return Leaf::Paragraph(cursor.text().to_owned());
        }
        let mut text = String::new();
        cursor.skip(CODE_INDENT);
        cursor.copy_to(&mut text);
        Leaf::Indented(text)
    }

    /// Turns the leaf into its block, in the container that it stands in.
    pub fn close(self, container: Option<&mut Container>) -> Option<Block> {
        Some(match self {
            Leaf::None => return None,
            Leaf::Paragraph(text) => {
                let text = text.trim_ascii();
                let text = match container {
                    Some(container) => container.take_task(text),
                    None => text,
                };
                Block::Paragraph(inline::parse(text))
            }
            Leaf::Indented(text) => Block::Code {
                language: String::new(),
                title: String::new(),
                text: before(&text, text.len() - run_back(&text, b'\n')).to_owned(),
            },
            Leaf::Fenced { language, title, mut text, .. } => {
                text.pop();
                Block::Code { language, title, text }
            }
            Leaf::Table(Table { alignments, head, rows, .. }) => {
                Block::Table { alignments, head, rows }
            }
        })
    }
}
