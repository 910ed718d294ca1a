//! Cuts and searches text without ever panicking, and without a copy of the search for each kind
//! of pattern: the browser downloads this code.

/// Returns the text before an offset.
pub(super) fn before(text: &str, at: usize) -> &str {
    text.get(..at).unwrap_or(text)
}

/// Returns the text from an offset on.
pub(super) fn after(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

/// Finds the first of some ASCII characters.
pub(super) fn find_any(text: &str, wanted: &[u8]) -> Option<usize> {
    text.bytes().position(|byte| wanted.contains(&byte))
}

/// Finds the first of some ASCII characters that no backslash stands before.
pub(super) fn find_unescaped(text: &str, wanted: &[u8]) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|byte| {
        let found = !escaped && wanted.contains(&byte);
        escaped = !escaped && byte == b'\\';
        found
    })
}

/// Counts how often a text repeats a byte at its beginning.
pub(super) fn run(text: &str, marker: u8) -> usize {
    text.bytes().take_while(|byte| *byte == marker).count()
}

/// Counts how often a text repeats a byte at its end.
pub(super) fn run_back(text: &str, marker: u8) -> usize {
    text.bytes().rev().take_while(|byte| *byte == marker).count()
}

/// Finds the end of the first line.
pub(super) fn find_newline(text: &str) -> Option<usize> {
    text.bytes().position(|byte| byte == b'\n')
}

/// Returns the offset at which the last line begins.
pub(super) fn last_line(text: &str) -> usize {
    text.bytes().rposition(|byte| byte == b'\n').map_or(0, |at| at + 1)
}

/// Appends text with its newlines as spaces.
pub(super) fn push_unbroken(target: &mut String, text: &str) {
    let mut rest = text;
    while let Some(at) = find_newline(rest) {
        target.push_str(before(rest, at));
        target.push(' ');
        rest = after(rest, at + 1);
    }
    target.push_str(rest);
}
