//! Reads languages of words, strings and comments.
//!
//! All marks are ASCII and every other byte is part of a word, so that bytes can be read one by
//! one and a cut never falls within a character.

use super::language::{Habits, Words, has_word};
use super::{Painter, Token};

/// What may stand before a string's opening quote as a part of it.
const PREFIXES: &str = "b br c cr f fr r rb u u8 B F L R U";

/// Adds the spans of a whole code.
pub(super) fn paint(words: &'static Words, code: &str, painter: &mut Painter) {
    let mut lexer = Lexer { words, rest: code.as_bytes(), before: b'\n', in_word: false };
    let mut rest = code;
    while !rest.is_empty() {
        let (token, length) = lexer.next();
        rest = painter.cut(token, rest, length);
        let used = lexer.rest.len() - rest.len();
        lexer.before = lexer.rest.get(used.wrapping_sub(1)).copied().unwrap_or(b'\n');
        lexer.rest = rest.as_bytes();
    }
}

struct Lexer<'a> {
    words: &'static Words,
    rest: &'a [u8],
    /// The byte before the rest.
    before: u8,
    /// Whether a word that is no prefix of a string stands right before the rest, so that an
    /// apostrophe is one.
    in_word: bool,
}

impl Lexer<'_> {
    /// Says what comes next, and how long it is.
    fn next(&mut self) -> (Token, usize) {
        let after_word = core::mem::take(&mut self.in_word);
        let first = self.rest.first().copied().unwrap_or(b' ');
        if is_space(first) {
            return (Token::Plain, measure(self.rest, is_space));
        }
        if let Some(length) = self.comment() {
            return (Token::Comment, length);
        }
        if !(first == b'\'' && after_word)
            && let Some(length) = self.rust_string().or_else(|| self.string())
        {
            return (self.key_or(Token::Text, length), length);
        }
        if first.is_ascii_digit() {
            self.in_word = true;
            return (Token::Number, self.number_length());
        }
        if is_word(first) || is_sigil(first) {
            return self.word();
        }
        (Token::Plain, 1)
    }

    fn comment(&self) -> Option<usize> {
        let (open, close) = self.words.block_comment;
        if !open.is_empty() && self.rest.starts_with(open.as_bytes()) {
            return Some(self.closed_length(open.len(), close.as_bytes(), false, true));
        }
        let opened = self.words.line_comments.iter().any(|open| {
            // `$#`, `a#b` and `a;` are no comments.
            let alone = open.len() > 1 || is_space(self.before);
            alone && self.rest.starts_with(open.as_bytes())
        });
        opened.then(|| measure(self.rest, is_within_line))
    }

    /// Measures a string as the language table describes it.
    fn string(&self) -> Option<usize> {
        for quote in self.words.quotes {
            if self.rest.starts_with(quote.open.as_bytes()) {
                let close = quote.close.as_bytes();
                let length = quote.open.len();
                return Some(self.closed_length(length, close, quote.escapes, quote.multiline));
            }
        }
        None
    }

    /// Measures a character literal or `r#"…"#`; a lifetime is neither.
    fn rust_string(&self) -> Option<usize> {
        if self.words.habits != Habits::Rust {
            return None;
        }
        if let [b'\'', first, ..] = self.rest {
            let length = match first {
                b'\\' => return Some(self.closed_length(1, b"'", true, false)),
                // The length of a character stands in its first byte.
                0xf0.. => 4,
                0xe0.. => 3,
                0x80.. => 2,
                _ => 1,
            };
            return (self.rest.get(length + 1) == Some(&b'\'')).then_some(length + 2);
        }
        let prefix = match self.rest {
            [b'r', ..] => 1,
            [b'b' | b'c', b'r', ..] => 2,
            _ => return None,
        };
        let hashes = measure(self.rest.get(prefix..)?, |byte| byte == b'#');
        let open = prefix + hashes + 1;
        let (quote, mut close) = (open - 1, vec![b'"']);
        close.extend(self.rest.get(prefix..quote)?);
        let raw = self.rest.get(quote) == Some(&b'"');
        raw.then(|| self.closed_length(open, &close, false, true))
    }

    fn word(&mut self) -> (Token, usize) {
        let belongs = if self.words.habits == Habits::Keys { is_dashed_word } else { is_word };
        let sigil = measure(self.rest, is_sigil);
        let length = sigil + measure(self.rest.get(sigil..).unwrap_or_default(), belongs);
        let (word, rest) = self.rest.split_at_checked(length).unwrap_or_default();
        let query = self.words.habits == Habits::Query;
        if has_word(self.words.keywords, word, query) {
            return (Token::Keyword, length);
        }
        self.in_word = !has_word(PREFIXES, word, false);
        let called = matches!(rest, [b'(', ..] | [b'!', b'(' | b'[' | b'{', ..]);
        let marked = sigil > 0 && length > sigil;
        let is_type = word.first().is_some_and(u8::is_ascii_uppercase);
        if (called || marked || is_type) && !query {
            return (Token::Name, length);
        }
        (self.key_or(Token::Plain, length), length)
    }

    /// Says whether what comes next is a key, where there are such.
    fn key_or(&self, token: Token, length: usize) -> Token {
        let rest = self.rest.get(length..).unwrap_or_default();
        let rest = rest.get(measure(rest, |byte| byte == b' ')..).unwrap_or_default();
        match rest {
            _ if self.words.habits != Habits::Keys => token,
            [b':' | b'=', b'/' | b':' | b'=', ..] => token,
            [b':' | b'=', ..] => Token::Name,
            _ => token,
        }
    }

    /// Measures a number with its suffix; a dot belongs to it only before a digit.
    fn number_length(&self) -> usize {
        let mut length = 0;
        while let Some(byte) = self.rest.get(length) {
            let next = self.rest.get(length + 1);
            let is_point = *byte == b'.' && next.is_some_and(u8::is_ascii_digit);
            if !is_word(*byte) && !is_point {
                break;
            }
            length += 1;
        }
        length
    }

    fn closed_length(&self, open: usize, close: &[u8], escapes: bool, multiline: bool) -> usize {
        closed_length(self.rest, open, close, escapes, multiline)
    }
}

/// Measures what begins with so many opening bytes, up to and with the closing ones; what is not
/// closed ends with its line, or with the code.
pub(super) fn closed_length(
    code: &[u8],
    open: usize,
    close: &[u8],
    escapes: bool,
    multiline: bool,
) -> usize {
    let mut at = open;
    while let Some(byte) = code.get(at) {
        if *byte == b'\n' && !multiline {
            return at;
        }
        if *byte == b'\\' && escapes && code.get(at + 1) != Some(&b'\n') {
            at += 1;
        } else if close.first() == Some(byte)
            && code.get(at..).is_some_and(|rest| rest.starts_with(close))
        {
            return at + close.len();
        }
        at += 1;
    }
    code.len()
}

/// Counts the bytes of one kind that code begins with.
pub(super) fn measure(code: &[u8], belongs: fn(u8) -> bool) -> usize {
    code.iter().position(|byte| !belongs(*byte)).unwrap_or(code.len())
}

pub(super) fn is_within_line(byte: u8) -> bool {
    byte != b'\n'
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}

fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || !byte.is_ascii()
}

fn is_dashed_word(byte: u8) -> bool {
    byte == b'-' || is_word(byte)
}

fn is_sigil(byte: u8) -> bool {
    matches!(byte, b'$' | b'@')
}
