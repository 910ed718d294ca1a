//! Reads the text of a block into pieces: links and code first, since they bind closer than
//! emphasis.

use super::Inline;
use super::emphasis::{Piece, Run, resolve};
use super::link;
use super::slice::{after, before, push_unbroken, run, run_back};

/// Parses the text of one block.
pub(super) fn parse(text: &str) -> Vec<Inline> {
    let mut scanner =
        Scanner { text, at: 0, pieces: Vec::new(), brackets: Vec::new(), inactive: 0, missing: 0 };
    scanner.scan();
    resolve(scanner.pieces, false)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    pieces: Vec<Piece<'a>>,
    brackets: Vec<Bracket>,
    /// How many of the outermost brackets enclose a link already, so that they cannot be one.
    inactive: usize,
    /// The lengths of backtick runs that do not come again.
    missing: u64,
}

/// Remembers an opening bracket.
struct Bracket {
    image: bool,
    /// The piece that shows the bracket.
    piece: usize,
    /// Where the text within begins.
    start: usize,
}

impl<'a> Scanner<'a> {
    fn scan(&mut self) {
        while self.at < self.text.len() {
            let rest = self.rest();
            let plain = plain_length(rest.as_bytes());
            if plain > 0 {
                self.take_text(plain);
            } else if !self.scan_special(rest) {
                self.take_text(1);
            }
        }
    }

    fn rest(&self) -> &'a str {
        after(self.text, self.at)
    }

    fn take_text(&mut self, length: usize) {
        self.take(length, Piece::Text(before(self.rest(), length)));
    }

    fn take(&mut self, length: usize, piece: Piece<'a>) {
        self.at += length;
        self.pieces.push(piece);
    }

    /// Reads what a special character begins; nothing is taken if it is only itself.
    fn scan_special(&mut self, rest: &'a str) -> bool {
        match rest.as_bytes() {
            [b'\\', ..] => self.scan_escape(rest),
            [b'`', ..] => self.scan_code(rest),
            [marker @ (b'*' | b'_' | b'~'), ..] => self.scan_run(rest, *marker),
            [b'!', b'[', ..] => self.open_bracket(2),
            [b'[', ..] => self.open_bracket(1),
            [b']', ..] => self.close_bracket(rest),
            [b'<', ..] => self.scan_angle(rest),
            [b'&', ..] => self.scan_entity(rest),
            [b'\n', ..] => self.scan_newline(),
            _ => self.scan_address(rest),
        }
    }

    fn scan_escape(&mut self, rest: &'a str) -> bool {
        match rest.as_bytes() {
            [_, b'\n', ..] => self.take(2, Piece::Node(Inline::Break)),
            [_, next, ..] if next.is_ascii_punctuation() => {
                self.take(2, Piece::Text(before(after(rest, 1), 1)));
            }
            _ => return false,
        }
        true
    }

    fn scan_code(&mut self, rest: &'a str) -> bool {
        let ticks = run(rest, b'`');
        let Some(close) = link::closing_run(rest, ticks, &mut self.missing) else {
            self.take_text(ticks);
            return true;
        };
        let inner = after(before(rest, close), ticks);
        let padded = matches!(inner.as_bytes(), [b' ' | b'\n', .., b' ' | b'\n']);
        let inner = match padded && !inner.trim_ascii().is_empty() {
            true => before(after(inner, 1), inner.len() - 2),
            false => inner,
        };
        let mut code = String::new();
        push_unbroken(&mut code, inner);
        self.take(close + ticks, Piece::Node(Inline::Code(code)));
        true
    }

    /// Reads markers; a single tilde stays text, since it so often means "about" or "to".
    fn scan_run(&mut self, rest: &'a str, marker: u8) -> bool {
        let length = run(rest, marker);
        let markers = before(rest, length);
        let before = before(self.text, self.at).chars().next_back();
        let after = after(rest, length).chars().next();
        let (left, right) = flanking(before, after);
        let (opens, closes) = match marker {
            b'_' => (
                left && (!right || before.is_some_and(is_punctuation)),
                right && (!left || after.is_some_and(is_punctuation)),
            ),
            b'~' => (left && length == 2, right && length == 2),
            _ => (left, right),
        };
        self.take(length, Piece::Run(Run { markers, opens, closes }));
        true
    }

    fn open_bracket(&mut self, length: usize) -> bool {
        self.brackets.push(Bracket {
            image: length == 2,
            piece: self.pieces.len(),
            start: self.at + length,
        });
        self.take_text(length);
        true
    }

    fn close_bracket(&mut self, rest: &'a str) -> bool {
        let Some(bracket) = self.brackets.pop() else {
            return false;
        };
        let index = self.brackets.len();
        let active = bracket.image || index >= self.inactive;
        self.inactive = self.inactive.min(index);
        let tail = if active { link::tail(after(rest, 1)) } else { None };
        let Some(tail) = tail else {
            return false;
        };
        let inside = self.pieces.split_off(bracket.piece + 1);
        self.pieces.pop();
        let piece = if bracket.image {
            Piece::Image {
                target: tail.target,
                title: tail.title,
                label: after(before(self.text, self.at), bracket.start),
            }
        } else {
            self.inactive = index;
            Piece::Node(Inline::Link {
                target: tail.target,
                title: link::unescape(tail.title),
                content: resolve(inside, true),
            })
        };
        self.take(1 + tail.length, piece);
        true
    }

    fn scan_angle(&mut self, rest: &'a str) -> bool {
        if let Some((address, target)) = link::pointed_address(rest) {
            self.take(address.len() + 2, address_link(address, target));
        } else if let Some(length) = tag_length(rest) {
            self.take_text(length);
        } else {
            return false;
        }
        true
    }

    fn scan_entity(&mut self, rest: &'a str) -> bool {
        let Some((length, meaning)) = link::entity(rest) else {
            return false;
        };
        self.take(length, Piece::Text(meaning));
        true
    }

    /// Ends a line: softly, or hard after two spaces.
    fn scan_newline(&mut self) -> bool {
        let mut spaces = 0;
        if let Some(Piece::Text(text)) = self.pieces.last_mut() {
            spaces = run_back(text, b' ');
            *text = text.trim_ascii_end();
        }
        if spaces >= 2 {
            self.take(1, Piece::Node(Inline::Break));
        } else {
            self.take_text(1);
        }
        true
    }

    fn scan_address(&mut self, rest: &'a str) -> bool {
        let before = self.text.as_bytes().get(self.at.wrapping_sub(1));
        if before.is_some_and(u8::is_ascii_alphanumeric) {
            return false;
        }
        let Some(address) = link::bare_address(rest) else {
            return false;
        };
        self.take(address.len(), address_link(address, address.to_owned()));
        true
    }
}

fn address_link<'a>(address: &str, target: String) -> Piece<'a> {
    Piece::Node(Inline::Link {
        target,
        title: String::new(),
        content: vec![Inline::Text(address.to_owned())],
    })
}

/// Measures the HTML tag or comment a text begins with, all of which is text.
fn tag_length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    if !matches!(bytes.get(1)?, b'/' | b'!' | b'?' | b'a'..=b'z' | b'A'..=b'Z') {
        return None;
    }
    let mut quote = None;
    for (at, byte) in bytes.iter().enumerate().skip(2) {
        match (quote, byte) {
            (Some(open), _) if open == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'>') => return Some(at + 1),
            (None, b'<' | b'`' | b'*' | b'[') => return None,
            (None, _) => {}
        }
    }
    None
}

/// Measures the text before the next character that may be special; all such are ASCII.
fn plain_length(bytes: &[u8]) -> usize {
    let special = |(at, byte): (usize, &u8)| match byte {
        b'h' | b'H' => matches!(bytes.get(at + 1), Some(b't' | b'T')),
        _ => b"\\`*_~[]!<&\n".contains(byte),
    };
    bytes.iter().enumerate().position(special).unwrap_or(bytes.len())
}

/// Says whether markers between two characters lean to the right one, and to the left one.
fn flanking(before: Option<char>, after: Option<char>) -> (bool, bool) {
    let space_before = before.is_none_or(char::is_whitespace);
    let space_after = after.is_none_or(char::is_whitespace);
    let mark_before = before.is_some_and(is_punctuation);
    let mark_after = after.is_some_and(is_punctuation);
    (
        !space_after && (!mark_after || space_before || mark_before),
        !space_before && (!mark_before || space_after || mark_after),
    )
}

/// Says whether a character counts as punctuation; that of Chinese and Japanese does not, since
/// text without spaces could otherwise not be emphasised next to it.
fn is_punctuation(character: char) -> bool {
    character.is_ascii_punctuation()
        || matches!(character, '\u{a1}'..='\u{bf}' | '\u{2010}'..='\u{205e}')
}
