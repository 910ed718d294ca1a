//! Cuts a stylesheet into tokens, as coarsely as joining and shrinking it allow.

/// A piece of a stylesheet; the pieces of a text, joined, are that text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token<'a> {
    Comment(&'a str),
    Space(&'a str),
    /// A string, an escape or an unquoted `url(…)`: nothing inside it may change.
    Literal(&'a str),
    /// One of the characters that give a stylesheet its structure.
    Symbol(char),
    Word(&'a str),
}

impl<'a> Token<'a> {
    /// Appends the token as it was written.
    pub fn write(self, text: &mut String) {
        match self {
            Self::Comment(part) | Self::Space(part) | Self::Literal(part) | Self::Word(part) => {
                text.push_str(part);
            }
            Self::Symbol(symbol) => text.push(symbol),
        }
    }

    fn cut(rest: &'a str) -> Option<(Self, &'a str)> {
        let first = rest.chars().next()?;
        let (token, length) = if rest.starts_with("/*") {
            let length = comment(rest);
            (Self::Comment(&rest[..length]), length)
        } else if first.is_ascii_whitespace() {
            let length = prefix(rest, |character| character.is_ascii_whitespace());
            (Self::Space(&rest[..length]), length)
        } else if first == '"' || first == '\'' {
            let length = first.len_utf8() + through(&rest[1..], first);
            (Self::Literal(&rest[..length]), length)
        } else if first == '\\' {
            let length = escape(rest);
            (Self::Literal(&rest[..length]), length)
        } else if is_symbol(first) {
            (Self::Symbol(first), first.len_utf8())
        } else {
            let length = word(rest);
            match address(&rest[..length], &rest[length..]) {
                Some(behind) => (Self::Literal(&rest[..length + behind]), length + behind),
                None => (Self::Word(&rest[..length]), length),
            }
        };
        Some((token, &rest[length..]))
    }
}

/// Cuts a whole stylesheet.
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut rest = text;
    std::iter::from_fn(|| {
        let (token, behind) = Token::cut(rest)?;
        rest = behind;
        Some(token)
    })
    .collect()
}

fn is_symbol(character: char) -> bool {
    matches!(character, '{' | '}' | '(' | ')' | '[' | ']' | ';' | ':' | ',')
}

/// Measures a comment; `/*/` opens one and does not close it.
fn comment(text: &str) -> usize {
    text[2..].find("*/").map_or(text.len(), |end| end + 4)
}

/// Measures the start of `text` whose characters all fit.
fn prefix(text: &str, fits: impl Fn(char) -> bool) -> usize {
    text.find(|character| !fits(character)).unwrap_or(text.len())
}

/// Measures up to and with the first `end` that no backslash precedes.
fn through(text: &str, end: char) -> usize {
    let mut escaped = false;
    for (position, character) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if character == '\\' {
            escaped = true;
        } else if character == end {
            return position + character.len_utf8();
        }
    }
    text.len()
}

/// Measures an escape; after hexadecimal digits one white space belongs to it.
fn escape(text: &str) -> usize {
    let behind = &text[1..];
    let digits = prefix(behind, |character| character.is_ascii_hexdigit()).min(6);
    let next = behind[digits..].chars().next();
    match (digits, next) {
        (0, Some(character)) => 1 + character.len_utf8(),
        (_, Some(character)) if character.is_ascii_whitespace() => 1 + digits + 1,
        _ => 1 + digits,
    }
}

fn word(text: &str) -> usize {
    text.char_indices()
        .find(|(position, character)| {
            character.is_ascii_whitespace()
                || is_symbol(*character)
                || matches!(character, '"' | '\'' | '\\')
                || text[*position..].starts_with("/*")
        })
        .map_or(text.len(), |(position, _)| position)
}

/// Measures the rest of an unquoted `url(…)` behind its name.
fn address(name: &str, behind: &str) -> Option<usize> {
    let inside = behind.strip_prefix('(')?;
    let quoted = inside.trim_start().starts_with(['"', '\'']);
    (name.eq_ignore_ascii_case("url") && !quoted).then(|| 1 + through(inside, ')'))
}
