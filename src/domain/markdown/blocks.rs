//! Reads lines into blocks: containers that are open stand on a stack, and at most one leaf is
//! open in the innermost of them.

use super::line::{CODE_INDENT, Cursor, Marker};
use super::open::{Container, Leaf, List};
use super::slice::{after, before, find_newline, last_line, run_back};
use super::table::Table;
use super::{Block, inline};

/// How deep quotes and lists nest before their marks are read as text.
const DEPTH: usize = 32;

/// Holds the blocks of a text, and where the last of them begins.
pub(super) struct Parsed {
    pub blocks: Vec<Block>,
    /// The place of the last block whose beginning more text cannot undo; text from its offset
    /// on parses alone to the same blocks as here.
    pub last_index: usize,
    pub last_offset: usize,
}

/// Parses a text from its beginning.
pub(super) fn parse(text: &str) -> Parsed {
    let mut parser = Parser {
        parsed: Parsed { blocks: Vec::new(), last_index: 0, last_offset: 0 },
        stack: Vec::new(),
        leaf: Leaf::None,
        offset: 0,
        complete: false,
    };
    while parser.offset < text.len() {
        let rest = after(text, parser.offset);
        let end = find_newline(rest);
        let line = before(rest, end.unwrap_or(rest.len()));
        parser.complete = end.is_some();
        parser.line(before(line, line.len() - run_back(line, b'\r').min(1)));
        parser.offset += line.len() + 1;
    }
    parser.close_to(0);
    parser.close_leaf();
    parser.parsed
}

struct Parser {
    parsed: Parsed,
    stack: Vec<Container>,
    leaf: Leaf,
    /// Where the line at hand begins.
    offset: usize,
    /// Whether the line at hand is ended, so that nothing can be added to it.
    complete: bool,
}

impl Parser {
    fn line(&mut self, text: &str) {
        let mut cursor = Cursor::new(text);
        let matched = self.matching(&mut cursor);
        if self.continue_code(&mut cursor, matched) {
            return;
        }
        let mut depth = matched;
        while self.open_container(&mut cursor, &mut depth) {}
        if !cursor.is_blank() {
            if !self.open_leaf(&cursor, depth) {
                self.add_text(&cursor, depth);
            }
        } else if depth == matched {
            self.blank_line(depth);
        }
    }

    /// Counts the open containers that go on in this line, and skips their marks.
    fn matching(&mut self, cursor: &mut Cursor) -> usize {
        for (index, container) in self.stack.iter_mut().enumerate() {
            let continues = match &mut container.list {
                Some(list) => list.continues(cursor),
                None => cursor.take_quote(),
            };
            if !continues {
                return index;
            }
        }
        self.stack.len()
    }

    /// Adds the line to the code block that is open, if it belongs there.
    fn continue_code(&mut self, cursor: &mut Cursor, depth: usize) -> bool {
        let outside = self.stack.get(depth..).unwrap_or_default();
        let inside = outside.is_empty();
        match &mut self.leaf {
            Leaf::Fenced { marker, length, indent, text, .. } => {
                // A fence opened in a list item is often closed without the indentation.
                let closable = outside.iter().all(|container| container.list.is_some());
                if closable && cursor.closes(*marker, *length) {
                    self.close_leaf();
                    return true;
                }
                if inside {
                    cursor.skip(*indent);
                    cursor.copy_to(text);
                }
                inside
            }
            Leaf::Indented(text) if inside => {
                let continues = cursor.indent() >= CODE_INDENT && !cursor.is_blank();
                if continues {
                    cursor.skip(CODE_INDENT);
                    cursor.copy_to(text);
                    self.forget_blanks();
                }
                continues
            }
            _ => false,
        }
    }

    /// Opens the quote or the list item that begins here, if one does.
    fn open_container(&mut self, cursor: &mut Cursor, depth: &mut usize) -> bool {
        if cursor.indent() >= CODE_INDENT || cursor.is_rule() {
            return false;
        }
        let mut ahead = *cursor;
        if *depth < DEPTH && ahead.take_quote() {
            self.begin(*depth);
            self.stack.push(Container { blocks: Vec::new(), list: None });
        } else if let Some(marker) = ahead.take_marker() {
            if !self.open_item(&marker, cursor, *depth) {
                return false;
            }
        } else {
            return false;
        }
        *cursor = ahead;
        *depth += 1;
        true
    }

    fn open_item(&mut self, marker: &Marker, cursor: &Cursor, depth: usize) -> bool {
        if self.in_paragraph(depth) {
            let weak = marker.empty || marker.start.is_some_and(|start| start != 1);
            if weak || self.begin_table(cursor).is_some() {
                return false;
            }
        }
        let list = self.stack.get(depth).and_then(|container| container.list.as_ref());
        if list.is_some_and(|list| list.kind == marker.kind) {
            self.close_to(depth + 1);
            self.close_leaf();
            if let Some(Container { blocks, list: Some(list) }) = self.stack.get_mut(depth) {
                list.advance(marker, blocks);
            }
            self.forget_blanks();
            return true;
        }
        if depth >= DEPTH {
            return false;
        }
        self.begin(depth);
        self.stack.push(Container { blocks: Vec::new(), list: Some(List::new(marker)) });
        true
    }

    /// Opens the heading, rule, table or code block that begins here, if one does.
    fn open_leaf(&mut self, cursor: &Cursor, depth: usize) -> bool {
        if cursor.indent() >= CODE_INDENT {
            return false;
        }
        if self.in_paragraph(depth) && self.open_from_paragraph(cursor) {
            return true;
        }
        if let Some((level, text)) = cursor.heading() {
            self.begin(depth);
            let content = inline::parse(text);
            self.add(Block::Heading { level, content });
        } else if let Some(fence) = cursor.fence() {
            self.begin(depth);
            self.leaf = Leaf::fenced(&fence);
        } else if cursor.is_rule() {
            self.begin(depth);
            self.add(Block::Rule);
        } else {
            return false;
        }
        true
    }

    /// Turns the open paragraph into a heading, or its last line into a table's head.
    ///
    /// Neither counts as a beginning: what the line means rests on the paragraph before it.
    fn open_from_paragraph(&mut self, cursor: &Cursor) -> bool {
        let table = self.begin_table(cursor);
        let Leaf::Paragraph(text) = &mut self.leaf else {
            return false;
        };
        if let Some(level) = cursor.underline() {
            let content = inline::parse(text.trim_ascii());
            self.leaf = Leaf::None;
            self.add(Block::Heading { level, content });
        } else if let Some(table) = table {
            text.truncate(last_line(text).saturating_sub(1));
            if !text.is_empty() {
                self.close_leaf();
            }
            self.leaf = Leaf::Table(table);
        } else {
            return false;
        }
        true
    }

    /// Reads the paragraph's last line and this line as the beginning of a table.
    fn begin_table(&self, cursor: &Cursor) -> Option<Table> {
        match &self.leaf {
            Leaf::Paragraph(text) => Table::begin(after(text, last_line(text)), cursor.trimmed()),
            _ => None,
        }
    }

    /// Adds text to what is open, or begins a paragraph or indented code with it.
    fn add_text(&mut self, cursor: &Cursor, depth: usize) {
        let inside = depth == self.stack.len();
        match &mut self.leaf {
            // Even where its containers do not go on: a lazy continuation.
            Leaf::Paragraph(text) => {
                text.push('\n');
                text.push_str(cursor.text());
            }
            Leaf::Table(table) if inside => table.push(cursor.trimmed()),
            _ => {
                self.begin(depth);
                self.leaf = Leaf::from_text(*cursor);
            }
        }
    }

    fn blank_line(&mut self, depth: usize) {
        self.close_to(depth);
        let empty = matches!(self.leaf, Leaf::None);
        match &mut self.leaf {
            Leaf::Indented(text) => text.push('\n'),
            _ => self.close_leaf(),
        }
        for container in self.stack.iter_mut().rev() {
            let Some(list) = &mut container.list else {
                break;
            };
            list.blank = true;
        }
        // An item that begins with a blank line cannot go on after a second one.
        if let Some(Container { blocks, list: Some(list) }) = self.stack.last_mut()
            && empty
            && blocks.is_empty()
        {
            list.seal();
        }
    }

    fn in_paragraph(&self, depth: usize) -> bool {
        depth == self.stack.len() && matches!(self.leaf, Leaf::Paragraph(_))
    }

    /// Makes room for a new block at a depth.
    fn begin(&mut self, depth: usize) {
        self.close_to(depth);
        self.close_leaf();
        match self.stack.last_mut() {
            Some(Container { list: Some(list), .. }) => list.tight &= !list.blank,
            Some(_) => {}
            None if self.complete => {
                self.parsed.last_index = self.parsed.blocks.len();
                self.parsed.last_offset = self.offset;
            }
            None => {}
        }
        self.forget_blanks();
    }

    fn forget_blanks(&mut self) {
        for container in &mut self.stack {
            if let Some(list) = &mut container.list {
                list.blank = false;
            }
        }
    }

    fn add(&mut self, block: Block) {
        match self.stack.last_mut() {
            Some(container) => container.blocks.push(block),
            None => self.parsed.blocks.push(block),
        }
    }

    /// Closes the containers beyond a depth, with the leaf in them.
    fn close_to(&mut self, depth: usize) {
        while self.stack.len() > depth {
            self.close_leaf();
            if let Some(container) = self.stack.pop() {
                self.add(container.close());
            }
        }
    }

    fn close_leaf(&mut self) {
        let leaf = core::mem::replace(&mut self.leaf, Leaf::None);
        if let Some(block) = leaf.close(self.stack.last_mut()) {
            self.add(block);
        }
    }
}
