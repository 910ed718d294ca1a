//! Colours code by one small lexer that a table of languages drives.
//!
//! - `language`: the table, and which name means which entry.
//! - `lexer`: languages of words, strings and comments.
//! - `markup`: tags, and the lines of a diff.
//!
//! It guesses and never fails: a wrong guess costs a colour, and no character is ever lost.

mod language;
mod lexer;
mod markup;

use language::Grammar;

/// Names what a stretch of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    Plain,
    Keyword,
    /// A string literal.
    Text,
    Comment,
    Number,
    /// The name of a function, a type, a key, or a variable with a sigil.
    Name,
    Added,
    Removed,
    /// The header of a diff's file or hunk.
    Heading,
}

/// Holds a stretch of code within one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub token: Token,
    pub text: String,
}

/// Holds the spans of one line, without its newline.
pub type Line = Vec<Span>;

/// Splits code into coloured lines, which joined by newlines are the code again.
pub fn highlight(language: &str, code: &str) -> Vec<Line> {
    let mut painter = Painter { lines: vec![Vec::new()] };
    match language::find(language) {
        None => {
            painter.cut(Token::Plain, code, code.len());
        }
        Some(Grammar::Words(words)) => lexer::paint(words, code, &mut painter),
        Some(Grammar::Markup) => markup::paint_tags(code, &mut painter),
        Some(Grammar::Diff) => markup::paint_diff(code, &mut painter),
    }
    painter.lines
}

/// Collects spans into lines.
struct Painter {
    lines: Vec<Line>,
}

impl Painter {
    /// Adds so many bytes of the code, which may reach over several lines, and returns the rest.
    fn cut<'a>(&mut self, token: Token, code: &'a str, length: usize) -> &'a str {
        let (mut text, rest) = code.split_at_checked(length).unwrap_or((code, ""));
        while let Some(end) = text.bytes().position(|byte| byte == b'\n') {
            let (line, after) = text.split_at_checked(end).unwrap_or((text, ""));
            self.add(token, line);
            self.lines.push(Vec::new());
            text = after.get(1..).unwrap_or_default();
        }
        self.add(token, text);
        rest
    }

    fn add(&mut self, token: Token, text: &str) {
        let Some(line) = self.lines.last_mut().filter(|_| !text.is_empty()) else {
            return;
        };
        match line.last_mut() {
            Some(last) if last.token == token => last.text.push_str(text),
            _ => line.push(Span { token, text: text.to_owned() }),
        }
    }
}
