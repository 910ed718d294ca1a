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
        None => painter.paint(Token::Plain, code),
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
    /// Adds a stretch of code, which may reach over several lines.
    fn paint(&mut self, token: Token, code: &str) {
        for (index, text) in code.split('\n').enumerate() {
            if index > 0 {
                self.lines.push(Vec::new());
            }
            if !text.is_empty() {
                self.add(token, text);
            }
        }
    }

    fn add(&mut self, token: Token, text: &str) {
        let Some(line) = self.lines.last_mut() else {
            return;
        };
        match line.last_mut() {
            Some(last) if last.token == token => last.text.push_str(text),
            _ => line.push(Span { token, text: text.to_owned() }),
        }
    }
}
