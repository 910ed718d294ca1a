//! What the page to sign in shows.

/// The page to sign in, which is plain HTML and needs no script.
#[derive(Debug, Clone, Default)]
pub struct SignIn {
    /// Where the reader wanted to be: an address of this server.
    pub next: String,
    /// A code that signs the device in without a password.
    pub code: Option<String>,
    pub problem: Option<String>,
}

impl SignIn {
    /// Takes an address to go on to, if it is one of this server; anything else could lead a reader
    /// who has just typed a password elsewhere.
    pub fn on_to(next: Option<String>) -> Self {
        let local = |next: &String| {
            let mut characters = next.chars();
            characters.next() == Some('/')
                && !matches!(characters.next(), Some('/' | '\\'))
                && !next.contains(|character: char| character.is_control() || character == '\\')
        };
        let next = next.filter(local).unwrap_or_else(|| "/".to_owned());
        Self { next, ..Self::default() }
    }
}
