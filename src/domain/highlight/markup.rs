//! Reads tags, and the lines of a diff.

use super::lexer::{closed_length, is_within_line, measure};
use super::{Painter, Token};

/// Adds the spans of HTML or XML.
pub(super) fn paint_tags(code: &str, painter: &mut Painter) {
    let mut rest = code;
    let mut in_tag = false;
    while let Some(first) = rest.as_bytes().first() {
        let part = if in_tag { tag_part } else { content_part };
        let (token, length) = part(rest.as_bytes());
        // Only a tag's name is a keyword.
        in_tag = (in_tag && *first != b'>') || token == Token::Keyword;
        rest = painter.cut(token, rest, length);
    }
}

/// Measures the comment, tag name or text that comes next.
fn content_part(code: &[u8]) -> (Token, usize) {
    if code.starts_with(b"<!--") {
        return (Token::Comment, closed_length(code, 4, b"-->", false, true));
    }
    if code.first() != Some(&b'<') {
        return (Token::Plain, measure(code, |byte| byte != b'<'));
    }
    let marks = measure(code, |byte| b"</!?".contains(&byte));
    match measure(code.get(marks..).unwrap_or_default(), is_name) {
        0 => (Token::Plain, marks),
        name => (Token::Keyword, marks + name),
    }
}

/// Measures what comes next within a tag.
fn tag_part(code: &[u8]) -> (Token, usize) {
    match code {
        [b'>', ..] => (Token::Plain, 1),
        [quote @ (b'"' | b'\''), ..] => {
            (Token::Text, closed_length(code, 1, &[*quote], false, true))
        }
        [first, ..] if is_name(*first) => (Token::Name, measure(code, is_name)),
        _ => (Token::Plain, measure(code, |byte| !is_name(byte) && !b"\"'>".contains(&byte))),
    }
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_:.@#".contains(&byte) || !byte.is_ascii()
}

/// Adds the spans of a diff.
pub(super) fn paint_diff(code: &str, painter: &mut Painter) {
    let mut rest = code;
    let mut in_header = false;
    while let Some(first) = rest.as_bytes().first() {
        let length = measure(rest.as_bytes(), is_within_line) + 1;
        let next = rest.get(length..).unwrap_or_default();
        // A removed line may itself begin with two dashes; a header is followed by its twin.
        let heads = rest.starts_with("--- ") && next.starts_with("+++ ");
        let titled = ["@@", "diff ", "index "].iter().any(|title| rest.starts_with(title));
        let token = match first {
            _ if heads || in_header || titled => Token::Heading,
            b'+' => Token::Added,
            b'-' => Token::Removed,
            _ => Token::Plain,
        };
        in_header = heads;
        rest = painter.cut(token, rest, length);
    }
}
