//! Reads languages of words, strings and comments.

use super::language::{Habits, Quote, Words, has_word};
use super::{Painter, Token};

/// What may stand before a string's opening quote as a part of it.
const PREFIXES: &str = "b br c cr f fr r rb u u8 B F L R U";

/// Adds the spans of a whole code.
pub(super) fn paint(words: &'static Words, code: &str, painter: &mut Painter) {
    let mut lexer = Lexer { words, rest: code, before: '\n', in_word: false };
    while !lexer.rest.is_empty() {
        let (token, length) = lexer.next();
        let (text, rest) = lexer.rest.split_at_checked(length).unwrap_or((lexer.rest, ""));
        painter.paint(token, text);
        lexer.before = text.chars().next_back().unwrap_or('\n');
        lexer.rest = rest;
    }
}

struct Lexer<'a> {
    words: &'static Words,
    rest: &'a str,
    /// The character before the rest.
    before: char,
    /// Whether a word that is no prefix of a string stands right before the rest, so that an
    /// apostrophe is one.
    in_word: bool,
}

impl Lexer<'_> {
    /// Says what comes next, and how long it is.
    fn next(&mut self) -> (Token, usize) {
        let after_word = core::mem::take(&mut self.in_word);
        let first = self.rest.chars().next().unwrap_or(' ');
        if first.is_whitespace() {
            return (Token::Plain, measure(self.rest, char::is_whitespace));
        }
        if let Some(length) = self.comment() {
            return (Token::Comment, length);
        }
        if !(first == '\'' && after_word)
            && let Some(length) = self.raw_string().or_else(|| self.string())
        {
            return (self.key_or(Token::Text, length), length);
        }
        if first.is_ascii_digit() {
            self.in_word = true;
            return (Token::Number, number_length(self.rest));
        }
        if is_word(first) || "$@".contains(first) {
            return self.word();
        }
        (Token::Plain, first.len_utf8())
    }

    fn comment(&self) -> Option<usize> {
        let (open, close) = self.words.block_comment;
        if !open.is_empty()
            && let Some(inner) = self.rest.strip_prefix(open)
        {
            let length = inner.find(close).map_or(inner.len(), |at| at + close.len());
            return Some(open.len() + length);
        }
        let opened = self.words.line_comments.iter().any(|open| {
            // `$#`, `a#b` and `a;` are no comments.
            let alone = open.len() > 1 || self.before.is_whitespace();
            alone && self.rest.starts_with(open)
        });
        opened.then(|| line_length(self.rest))
    }

    /// Measures `r#"…"#`, or a character literal.
    fn raw_string(&self) -> Option<usize> {
        if self.words.habits != Habits::Rust {
            return None;
        }
        if let Some(inner) = self.rest.strip_prefix('\'') {
            let mut characters = inner.chars();
            let first = characters.next()?;
            if first == '\\' {
                return quoted_length(inner, "'", true, false).map(|length| length + 1);
            }
            return (characters.next()? == '\'').then(|| first.len_utf8() + 2);
        }
        let inner = self.rest.strip_prefix(['b', 'c']).unwrap_or(self.rest);
        let inner = inner.strip_prefix('r')?;
        let hashes = measure(inner, |character| character == '#');
        let text = inner.get(hashes..)?.strip_prefix('"')?;
        let mut close = String::from("\"");
        close.push_str(inner.get(..hashes)?);
        let length = text.find(&close).map_or(text.len(), |at| at + close.len());
        Some(self.rest.len() - text.len() + length)
    }

    fn string(&self) -> Option<usize> {
        let open = |quote: &&Quote| self.rest.starts_with(quote.open);
        let quote = self.words.quotes.iter().find(open)?;
        let inner = self.rest.get(quote.open.len()..)?;
        let length = quoted_length(inner, quote.close, quote.escapes, quote.multiline)?;
        Some(quote.open.len() + length)
    }

    fn word(&mut self) -> (Token, usize) {
        let dashes = self.words.habits == Habits::Keys;
        let sigil = measure(self.rest, |character| "$@".contains(character));
        let inner = self.rest.get(sigil..).unwrap_or_default();
        let length =
            sigil + measure(inner, |character| is_word(character) || (dashes && character == '-'));
        let (word, rest) = self.rest.split_at_checked(length).unwrap_or_default();
        if has_word(self.words.keywords, word, self.words.habits == Habits::Query) {
            return (Token::Keyword, length);
        }
        self.in_word = !has_word(PREFIXES, word, false);
        let called =
            rest.starts_with('(') || ["!(", "![", "!{"].iter().any(|call| rest.starts_with(call));
        let is_type = word.starts_with(|first: char| first.is_ascii_uppercase());
        let named = called || is_type || (sigil > 0 && length > sigil);
        if named && self.words.habits != Habits::Query {
            return (Token::Name, length);
        }
        (self.key_or(Token::Plain, length), length)
    }

    /// Says whether what comes next is a key, where there are such.
    fn key_or(&self, token: Token, length: usize) -> Token {
        let rest = self.rest.get(length..).unwrap_or_default();
        let rest = rest.trim_start_matches(' ');
        let mut marks = rest.chars();
        let is_key = self.words.habits == Habits::Keys
            && marks.next().is_some_and(|mark| ":=".contains(mark))
            && marks.next().is_none_or(|next| !"/:=".contains(next));
        if is_key { Token::Name } else { token }
    }
}

fn is_word(character: char) -> bool {
    character == '_'
        || character.is_ascii_alphanumeric()
        || (!character.is_ascii() && !character.is_whitespace())
}

/// Measures how much of a text's beginning is made of such characters.
pub(super) fn measure(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|character| !belongs(character)).unwrap_or(text.len())
}

pub(super) fn line_length(text: &str) -> usize {
    text.find('\n').unwrap_or(text.len())
}

/// Measures what follows an opening quote, up to and with the closing one; a string that is not
/// closed ends with its line, or with the code.
pub(super) fn quoted_length(
    text: &str,
    close: &str,
    escapes: bool,
    multiline: bool,
) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if byte == b'\n' && !multiline {
            return Some(at);
        }
        if escaped {
            escaped = false;
        } else if escapes && byte == b'\\' {
            escaped = true;
        } else if close.as_bytes().first() == Some(&byte) && text.get(at..)?.starts_with(close) {
            return Some(at + close.len());
        }
    }
    Some(text.len())
}

/// Measures a number with its suffix; a dot belongs to it only before a digit.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let belongs = |at: usize, byte: u8| {
        byte == b'_'
            || byte.is_ascii_alphanumeric()
            || (byte == b'.' && bytes.get(at + 1).is_some_and(u8::is_ascii_digit))
    };
    let end = bytes.iter().enumerate().position(|(at, byte)| !belongs(at, *byte));
    end.unwrap_or(bytes.len())
}
