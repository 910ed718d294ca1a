//! Short words for what tools work on.

/// The longest line that a target, a summary or a search result is cut to, in characters.
pub const LINE: usize = 120;

/// Makes one short line of any text.
pub fn one_line(text: &str) -> String {
    let mut words = text.split_whitespace();
    let mut line = String::new();
    // A prompt may be huge: stop when the line is long enough.
    while let Some(word) = words.next().filter(|_| line.len() <= 4 * LINE) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    shorten(&line, LINE)
}

/// Cuts a text to so many characters.
pub fn shorten(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", text.split_at(end).0.trim_end()),
        None => text.to_owned(),
    }
}

pub fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Writes a number of bytes as a person reads it.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut amount = bytes as f64 / 1024.0;
    let mut units = UNITS.iter();
    let mut unit = units.next();
    while amount >= 1024.0
        && let Some(larger) = units.next()
    {
        amount /= 1024.0;
        unit = Some(larger);
    }
    format!("{amount:.1} {}", unit.unwrap_or(&"KiB"))
}
