//! What stands in place of a plain form's result when it was refused.

/// A message that a page without script could not send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedPrompt {
    /// Why, in plain words.
    pub problem: String,
    /// Where the form is sent again, as the same turn.
    pub action: String,
    /// What the person wrote.
    pub content: String,
    /// Where they came from.
    pub back: String,
}
