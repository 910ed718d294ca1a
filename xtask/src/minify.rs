//! Shrinks a stylesheet without understanding it: comments go, white space goes where it never counts.

#[cfg(test)]
mod tests;

use crate::css::{Token, tokens};

/// Shrinks a stylesheet; what it means stays the same.
pub fn minify(text: &str) -> String {
    let mut minifier = Minifier {
        output: String::new(),
        last: Token::Symbol(';'),
        space: false,
        place: Place::StatementStart,
    };
    let tokens = tokens(text);
    for (position, token) in tokens.iter().enumerate() {
        minifier.add(*token, tokens.get(position + 1));
    }
    minifier.output
}

struct Minifier<'a> {
    output: String,
    /// The last token that was written.
    last: Token<'a>,
    /// White space was read that must be written if something follows it.
    space: bool,
    place: Place,
}

/// Where in a stylesheet the next token stands, as far as white space is concerned.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    StatementStart,
    /// Behind `--name` at a statement's start: a colon makes it a custom property.
    CustomName,
    /// Before the value of a custom property.
    CustomStart,
    /// In that value, which scripts may read: so many brackets deep.
    CustomValue(usize),
    Elsewhere,
}

impl<'a> Minifier<'a> {
    fn add(&mut self, token: Token<'a>, next: Option<&Token>) {
        match (self.place, token) {
            (_, Token::Space(_)) => self.space = true,
            (_, Token::Comment(_)) => self.add_comment(next),
            (Place::CustomName, Token::Symbol(':')) => {
                self.space = false;
                self.write(token);
                self.place = Place::CustomStart;
            }
            (Place::CustomStart, Token::Symbol(symbol @ (';' | '}'))) => {
                // A property set to nothing needs a space as its value.
                self.output.push(' ');
                self.add_symbol(token, symbol);
            }
            (Place::CustomStart, _) => {
                self.space = false;
                self.add_to_custom_value(token, 0);
            }
            (Place::CustomValue(depth), _) => self.add_to_custom_value(token, depth),
            (_, Token::Symbol(symbol)) => self.add_symbol(token, symbol),
            (place, _) => {
                self.write_apart(token);
                let is_name = matches!(token, Token::Word(word) if word.starts_with("--"));
                self.place = if place == Place::StatementStart && is_name {
                    Place::CustomName
                } else {
                    Place::Elsewhere
                };
            }
        }
    }

    fn add_symbol(&mut self, token: Token<'a>, symbol: char) {
        match symbol {
            '{' | '}' | ';' | ',' => {
                self.space = false;
                if symbol == '}' && self.last == Token::Symbol(';') {
                    self.output.pop();
                }
                self.write(token);
            }
            _ => self.write_apart(token),
        }
        self.place = match symbol {
            '{' | '}' | ';' => Place::StatementStart,
            _ => Place::Elsewhere,
        };
    }

    /// Writes a part of a custom property's value: only runs of white space shrink, to one space.
    fn add_to_custom_value(&mut self, token: Token<'a>, depth: usize) {
        let depth = match token {
            Token::Symbol(symbol @ (';' | '}')) if depth == 0 => {
                return self.add_symbol(token, symbol);
            }
            Token::Symbol('{' | '(' | '[') => depth + 1,
            Token::Symbol('}' | ')' | ']') => depth.saturating_sub(1),
            _ => depth,
        };
        if self.space {
            self.output.push(' ');
        }
        self.write(token);
        self.place = Place::CustomValue(depth);
    }

    /// Keeps two words apart that only a comment kept apart.
    fn add_comment(&mut self, next: Option<&Token>) {
        let word_before = matches!(self.last, Token::Word(_) | Token::Literal(_));
        let word_behind =
            matches!(next, Some(Token::Word(_) | Token::Literal(_) | Token::Symbol('(')));
        if word_before && word_behind && !self.space {
            self.output.push_str("/**/");
        }
    }

    /// Writes a token with the space before it, unless what stands before needs none.
    fn write_apart(&mut self, token: Token<'a>) {
        let needless = matches!(self.last, Token::Symbol('{' | '}' | ';' | ',' | ':'));
        if self.space && !needless {
            self.output.push(' ');
        }
        self.write(token);
    }

    fn write(&mut self, token: Token<'a>) {
        token.write(&mut self.output);
        self.last = token;
        self.space = false;
    }
}
