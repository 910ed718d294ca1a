//! One conversation: its state and the views of its parts.

pub mod composer;
pub mod markdown;
pub mod message;
pub mod question;
pub mod state;
pub mod tool;
pub mod transcript;
