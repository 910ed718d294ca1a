//! Reads tags, and the lines of a diff.

use super::lexer::{measure, quoted_length};
use super::{Painter, Token};

/// Adds the spans of HTML or XML.
pub(super) fn paint_tags(code: &str, painter: &mut Painter) {
    let mut rest = code;
    let mut in_tag = false;
    while !rest.is_empty() {
        let (token, length) = if in_tag { tag_part(rest) } else { content_part(rest) };
        let (text, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        painter.paint(token, text);
        in_tag = match token {
            Token::Keyword => true,
            Token::Plain if in_tag => !text.contains('>'),
            _ => in_tag,
        };
        rest = after;
    }
}

/// Measures the comment, tag name or text that comes next; a name is the only keyword.
fn content_part(text: &str) -> (Token, usize) {
    if text.starts_with("<!--") {
        return (Token::Comment, text.find("-->").map_or(text.len(), |at| at + 3));
    }
    let Some(inner) = text.strip_prefix('<') else {
        return (Token::Plain, text.find('<').unwrap_or(text.len()));
    };
    let marks = measure(inner, |character| "/!?".contains(character));
    let name = measure(inner.get(marks..).unwrap_or_default(), is_name);
    match name {
        0 => (Token::Plain, 1 + marks),
        _ => (Token::Keyword, 1 + marks + name),
    }
}

/// Measures what comes next within a tag.
fn tag_part(text: &str) -> (Token, usize) {
    let first = text.chars().next().unwrap_or(' ');
    match first {
        '"' | '\'' => {
            let inner = text.get(1..).unwrap_or_default();
            let close = if first == '"' { "\"" } else { "'" };
            (Token::Text, 1 + quoted_length(inner, close, false, true).unwrap_or(0))
        }
        _ if is_name(first) => (Token::Name, measure(text, is_name)),
        '>' => (Token::Plain, 1),
        _ => {
            let inner = text.get(first.len_utf8()..).unwrap_or_default();
            let plain = |character| !is_name(character) && !"\"'>".contains(character);
            (Token::Plain, first.len_utf8() + measure(inner, plain))
        }
    }
}

fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || "-_:.@#".contains(character) || !character.is_ascii()
}

/// Adds the spans of a diff.
pub(super) fn paint_diff(code: &str, painter: &mut Painter) {
    let mut lines = code.split_inclusive('\n').peekable();
    let mut in_header = false;
    while let Some(line) = lines.next() {
        // A removed line may itself begin with two dashes; a header is followed by its twin.
        let heads =
            line.starts_with("--- ") && lines.peek().is_some_and(|next| next.starts_with("+++ "));
        let token = match line.as_bytes().first() {
            _ if heads || in_header || is_heading(line) => Token::Heading,
            Some(b'+') => Token::Added,
            Some(b'-') => Token::Removed,
            _ => Token::Plain,
        };
        in_header = heads;
        painter.paint(token, line);
    }
}

fn is_heading(line: &str) -> bool {
    ["@@", "diff ", "index "].iter().any(|start| line.starts_with(start))
}
