//! Knows how targets, escapes and code spans are written, and which targets are safe.

use super::slice::{after, before, find_any, find_unescaped, run};

/// How deep parentheses nest within a target.
const PARENTHESES: usize = 8;

/// The entities that are read; all others stay text.
const ENTITIES: [(&str, &str); 6] = [
    ("&amp;", "&"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    ("&quot;", "\""),
    ("&#39;", "'"),
    ("&nbsp;", "\u{a0}"),
];

/// Holds what follows a link's text.
pub(super) struct Tail<'a> {
    pub target: String,
    pub title: &'a str,
    pub length: usize,
}

/// Says whether a target may be followed or loaded: `http`, `https`, `mailto` or relative.
///
/// Browsers skip control characters when they read a scheme, so no target may hold any. What
/// stands before a relative target's first slash must look like nothing but a name.
pub(super) fn is_safe(target: &str) -> bool {
    if target.is_empty() || target.bytes().any(|byte| byte.is_ascii_control()) {
        return false;
    }
    let name = before(target, find_any(target, b"/?#").unwrap_or(target.len()));
    has_scheme(target)
        || !target.starts_with("//")
            && find_any(target, b"\\").is_none()
            && find_any(name, b":& ").is_none()
}

fn has_scheme(target: &str) -> bool {
    ["http:", "https:", "mailto:"].iter().any(|scheme| starts_with_any_case(target, scheme))
}

fn starts_with_any_case(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

/// Reads the entity a text begins with: its length and its meaning.
pub(super) fn entity(text: &str) -> Option<(usize, &'static str)> {
    let (name, meaning) = ENTITIES.iter().find(|(name, _)| text.starts_with(name))?;
    Some((name.len(), meaning))
}

/// Resolves escapes and entities.
pub(super) fn unescape(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some(at) = find_any(rest, b"\\&") {
        plain.push_str(before(rest, at));
        rest = after(rest, at);
        if let Some((length, meaning)) = entity(rest) {
            plain.push_str(meaning);
            rest = after(rest, length);
            continue;
        }
        if matches!(rest.as_bytes(), [b'\\', next, ..] if next.is_ascii_punctuation()) {
            rest = after(rest, 1);
        }
        plain.push_str(before(rest, 1));
        rest = after(rest, 1);
    }
    plain.push_str(rest);
    plain
}

/// Finds where the run of so many backticks begins that closes the run the text begins with.
///
/// `missing` remembers, a bit for each length, which runs were sought in vain: none comes later
/// in the same text either, and no text is searched again and again.
pub(super) fn closing_run(text: &str, ticks: usize, missing: &mut u64) -> Option<usize> {
    let bit = 1u64.checked_shl(ticks as u32)?;
    if *missing & bit != 0 {
        return None;
    }
    let mut at = ticks;
    while let Some(next) = find_any(after(text, at), b"`") {
        at += next;
        let length = run(after(text, at), b'`');
        if length == ticks {
            return Some(at);
        }
        at += length;
    }
    *missing |= bit;
    None
}

/// Reads `(target "title")`; nothing if it is not well formed or not safe.
pub(super) fn tail(text: &str) -> Option<Tail<'_>> {
    let rest = text.strip_prefix('(')?.trim_ascii_start();
    let (raw, rest) = match rest.strip_prefix('<') {
        Some(pointed) => {
            let end = find_unescaped(pointed, b"><\n")?;
            (before(pointed, end), after(pointed, end).strip_prefix('>')?)
        }
        None => {
            let end = bare_length(rest)?;
            (before(rest, end), after(rest, end))
        }
    };
    let spaced = rest.trim_ascii_start();
    let (title, rest) = match spaced.as_bytes().first()? {
        quote @ (b'"' | b'\'' | b'(') if spaced.len() < rest.len() => title(spaced, *quote)?,
        _ => ("", spaced),
    };
    let rest = rest.trim_ascii_start().strip_prefix(')')?;
    let target = unescape(raw);
    is_safe(&target).then_some(Tail { target, title, length: text.len() - rest.len() })
}

/// Measures a target that ends at a space, or at a parenthesis that it did not open.
fn bare_length(text: &str) -> Option<usize> {
    let mut depth = 0;
    let mut at = 0;
    loop {
        at += find_unescaped(after(text, at), b"() \t\n")?;
        match text.as_bytes().get(at)? {
            b'(' if depth < PARENTHESES => depth += 1,
            b')' if depth > 0 => depth -= 1,
            b'(' => return None,
            _ => return (depth == 0).then_some(at),
        }
        at += 1;
    }
}

fn title(text: &str, quote: u8) -> Option<(&str, &str)> {
    let close = if quote == b'(' { b')' } else { quote };
    let inner = after(text, 1);
    let end = find_unescaped(inner, &[close, quote])?;
    let closed = inner.as_bytes().get(end) == Some(&close);
    closed.then_some((before(inner, end), after(inner, end + 1)))
}

/// Reads the address in `<address>`: what it says, and where it leads.
pub(super) fn pointed_address(text: &str) -> Option<(&str, String)> {
    let inner = after(text, 1);
    let end = find_any(inner, b"<> \t\n")?;
    let address = before(inner, end);
    if inner.as_bytes().get(end) != Some(&b'>') || !is_safe(address) {
        return None;
    }
    let mut target = String::new();
    if !has_scheme(address) {
        let at = find_any(address, b"@").filter(|at| *at > 0)?;
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".+-_@".contains(&byte);
        find_any(after(address, at), b".").filter(|_| address.bytes().all(plain))?;
        target.push_str("mailto:");
    }
    target.push_str(address);
    Some((address, target))
}

/// Reads the web address a text begins with, without the punctuation of the sentence around it.
pub(super) fn bare_address(text: &str) -> Option<&str> {
    let scheme = if starts_with_any_case(text, "https://") { 8 } else { 7 };
    if scheme == 7 && !starts_with_any_case(text, "http://") {
        return None;
    }
    let mut address = before(text, text.find(ends_address).unwrap_or(text.len()));
    let count = |mark: u8| address.bytes().filter(|byte| *byte == mark).count();
    let (opened, mut closed) = (count(b'('), count(b')'));
    while let Some(last) = address.as_bytes().last() {
        match last {
            b')' if closed > opened => closed -= 1,
            last if b"?!.,:;*_~'".contains(last) => {}
            _ => break,
        }
        address = before(address, address.len() - 1);
    }
    (address.len() > scheme).then_some(address)
}

/// Brackets end an address since it is so often a link's own text; the wide punctuation of
/// Chinese and Japanese does since no space follows it.
fn ends_address(character: char) -> bool {
    character.is_whitespace()
        || character.is_ascii_control()
        || matches!(character, '<' | '>' | '[' | ']' | '`' | '"' | '\\' | '|')
        || matches!(character, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff20}')
}
