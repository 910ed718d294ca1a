//! Identifiers, validated once where they enter and trusted from then on.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The longest id accepted, in bytes.
pub const LONGEST_ID: usize = 128;

/// Says why a text cannot be an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidId {
    Blank,
    TooLong,
    Character(char),
}

impl fmt::Display for InvalidId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Blank => formatter.write_str("an id must not be blank"),
            Self::TooLong => formatter.write_str("an id has at most 128 bytes"),
            Self::Character(character) => {
                formatter.write_str("an id must not contain ")?;
                fmt::Debug::fmt(character, formatter)
            }
        }
    }
}

impl std::error::Error for InvalidId {}

fn validate(text: &str) -> Result<(), InvalidId> {
    if text.trim().is_empty() {
        return Err(InvalidId::Blank);
    }
    if text.len() > LONGEST_ID {
        return Err(InvalidId::TooLong);
    }
    let allowed = |character: char| {
        character.is_ascii_alphanumeric() || matches!(character, '_' | '.' | ':' | '-')
    };
    match text.chars().find(|character| !allowed(*character)) {
        Some(character) => Err(InvalidId::Character(character)),
        None => Ok(()),
    }
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// Accepts a text that is a valid id.
            pub fn parse(text: &str) -> Result<Self, InvalidId> {
                validate(text).map(|()| Self(text.to_owned()))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;

            fn try_from(text: String) -> Result<Self, InvalidId> {
                validate(&text).map(|()| Self(text))
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&self.0)
            }
        }
    };
}

text_id!(
    /// Names one stored session row.
    SessionId
);
text_id!(
    /// Names one press of Send; the idempotency key of a turn everywhere.
    TurnId
);
text_id!(
    /// Names one message of a session.
    MessageId
);
text_id!(
    /// Names one command sent over a socket.
    CommandId
);
text_id!(
    /// Names one question an agent asked.
    RequestId
);
text_id!(
    /// Names the numbering that a `Seq` belongs to; it changes when numbering starts over.
    Epoch
);
text_id!(
    /// Names stored bytes by their SHA-256.
    BlobId
);

/// A prompt has one id: its command is named after its turn.
impl From<&TurnId> for CommandId {
    fn from(turn_id: &TurnId) -> Self {
        Self(turn_id.0.clone())
    }
}

/// Numbers an event within its session and epoch, starting at one.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}
