//! Secrets: made, compared and kept out of sight.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};

/// A token shorter than this could be guessed.
const SHORTEST_TOKEN: usize = 16;

/// A text that no log line and no error shows.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Makes a secret of 244 random bits, in characters that an address takes as they are.
    pub fn mint() -> Self {
        let half = || uuid::Uuid::new_v4().simple().to_string();
        Self(format!("{}{}", half(), half()))
    }

    /// Gives the text to whoever must have it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    pub fn hash(&self) -> String {
        hash(&self.0)
    }

    /// Compares hashes, so that the time it takes says nothing about how much was right.
    pub fn is(&self, given: &str) -> bool {
        self.hash() == hash(given)
    }
}

/// Gives the form in which a secret is stored. It is random and long, so a quick hash is enough.
pub fn hash(secret: &str) -> String {
    Sha256::digest(secret).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

#[derive(Debug, thiserror::Error)]
#[error("a token has at least {SHORTEST_TOKEN} characters, none of them a space")]
pub struct PoorToken;

impl FromStr for Secret {
    type Err = PoorToken;

    fn from_str(text: &str) -> Result<Self, PoorToken> {
        let plain = text.chars().all(|character| character.is_ascii_graphic());
        if text.len() < SHORTEST_TOKEN || !plain {
            return Err(PoorToken);
        }
        Ok(Self(text.to_owned()))
    }
}
