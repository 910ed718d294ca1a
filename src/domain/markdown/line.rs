//! Reads one line from left to right, in columns: a tab reaches to the next multiple of four.

use super::slice::{after, before, find_any, run, run_back};

/// Indentation from which a line is code.
pub(super) const CODE_INDENT: usize = 4;

/// Stands somewhere in a line.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a str,
    column: usize,
    /// Columns left over from a tab that was only partly skipped.
    spare: usize,
}

/// Describes the opening line of a fenced code block.
pub(super) struct Fence<'a> {
    pub marker: u8,
    pub length: usize,
    pub indent: usize,
    pub language: &'a str,
    pub title: &'a str,
}

/// Describes the marker that begins a list item.
pub(super) struct Marker {
    /// `-`, `+`, `*`, or what follows the number: items of one list share it.
    pub kind: u8,
    pub start: Option<u32>,
    /// Columns before the marker.
    pub offset: usize,
    /// Columns before the item's content.
    pub indent: usize,
    pub empty: bool,
}

impl<'a> Cursor<'a> {
    pub fn new(rest: &'a str) -> Self {
        Self { rest, column: 0, spare: 0 }
    }

    /// Returns the rest of the line without the white space around it.
    pub fn trimmed(&self) -> &'a str {
        self.rest.trim_ascii()
    }

    /// Returns the rest of the line; the white space at its end may mean a hard break.
    pub fn text(&self) -> &'a str {
        self.rest.trim_ascii_start()
    }

    pub fn is_blank(&self) -> bool {
        self.trimmed().is_empty()
    }

    /// Counts the columns of white space ahead.
    pub fn indent(&self) -> usize {
        let mut indent = self.spare;
        for byte in self.rest.bytes() {
            match byte {
                b' ' => indent += 1,
                b'\t' => indent += 4 - (self.column + indent) % 4,
                _ => break,
            }
        }
        indent
    }

    /// Skips white space, up to so many columns.
    pub fn skip(&mut self, columns: usize) {
        let mut left = columns;
        while left > 0 {
            if self.spare == 0 {
                self.spare = match self.rest.as_bytes().first() {
                    Some(b' ') => 1,
                    Some(b'\t') => 4 - self.column % 4,
                    _ => return,
                };
                self.rest = after(self.rest, 1);
            }
            let step = left.min(self.spare);
            self.spare -= step;
            self.column += step;
            left -= step;
        }
    }

    /// Copies the rest of the line, and a newline, as it is.
    pub fn copy_to(&self, text: &mut String) {
        for _ in 0..self.spare {
            text.push(' ');
        }
        text.push_str(self.rest);
        text.push('\n');
    }

    /// Steps over characters that are known to be ASCII.
    fn step(&mut self, length: usize) {
        self.rest = after(self.rest, length);
        self.column += length;
    }

    /// Skips a quote's mark, if there is one here.
    pub fn take_quote(&mut self) -> bool {
        let indent = self.indent();
        if indent >= CODE_INDENT || !self.trimmed().starts_with('>') {
            return false;
        }
        self.skip(indent);
        self.step(1);
        self.skip(1);
        true
    }

    /// Skips a list item's marker and the space after it, if there is one here.
    pub fn take_marker(&mut self) -> Option<Marker> {
        let offset = self.indent();
        let mut ahead = *self;
        ahead.skip(offset);
        let bytes = ahead.rest.as_bytes();
        let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let kind = *bytes.get(digits)?;
        let start = match kind {
            b'-' | b'+' | b'*' if digits == 0 => None,
            b'.' | b')' if (1..=9).contains(&digits) => Some(number(bytes.get(..digits)?)),
            _ => return None,
        };
        ahead.step(digits + 1);
        let empty = ahead.is_blank();
        let gap = match ahead.indent() {
            _ if empty => 1,
            0 => return None,
            gap if gap > CODE_INDENT => 1,
            gap => gap,
        };
        ahead.skip(gap);
        *self = ahead;
        Some(Marker { kind, start, offset, indent: offset + digits + 1 + gap, empty })
    }

    /// Says whether the line is a thematic break.
    pub fn is_rule(&self) -> bool {
        let text = self.trimmed();
        let Some(marker @ (b'-' | b'*' | b'_')) = text.bytes().next() else {
            return false;
        };
        let mut count = 0;
        for byte in text.bytes() {
            if byte == marker {
                count += 1;
            } else if !byte.is_ascii_whitespace() {
                return false;
            }
        }
        count >= 3
    }

    /// Reads the underline that makes a heading of the paragraph before it.
    ///
    /// A single dash is none, unlike in CommonMark: while a text streams in, it is nearly always
    /// the beginning of a list.
    pub fn underline(&self) -> Option<u8> {
        let text = self.trimmed();
        match text.as_bytes().get(1)? {
            b'=' if run(text, b'=') == text.len() => Some(1),
            b'-' if run(text, b'-') == text.len() => Some(2),
            _ => None,
        }
    }

    /// Reads a heading's level and text.
    pub fn heading(&self) -> Option<(u8, &'a str)> {
        let text = self.trimmed();
        let level = run(text, b'#');
        let content = after(text, level);
        if !(1..=6).contains(&level) || !matches!(content.as_bytes(), [] | [b' ' | b'\t', ..]) {
            return None;
        }
        let open = before(content, content.len() - run_back(content, b'#'));
        let closed = matches!(open.as_bytes(), [] | [.., b' ' | b'\t']);
        let content = if closed { open } else { content };
        Some((level as u8, content.trim_ascii()))
    }

    /// Reads the opening of a fenced code block.
    pub fn fence(&self) -> Option<Fence<'a>> {
        let text = self.trimmed();
        let marker = *text.as_bytes().first()?;
        let length = run(text, marker);
        let info = after(text, length).trim_ascii();
        let fits = match marker {
            b'`' => find_any(info, b"`").is_none(),
            _ => marker == b'~',
        };
        if length < 3 || !fits {
            return None;
        }
        let end = find_any(info, b" \t").unwrap_or(info.len());
        Some(Fence {
            marker,
            length,
            indent: self.indent(),
            language: before(info, end),
            title: after(info, end).trim_ascii(),
        })
    }

    /// Says whether the line closes a fence of this marker and length.
    pub fn closes(&self, marker: u8, length: usize) -> bool {
        let text = self.trimmed();
        self.indent() < CODE_INDENT && text.len() >= length && run(text, marker) == text.len()
    }
}

/// Reads at most nine digits, which always fit.
fn number(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'))
}
