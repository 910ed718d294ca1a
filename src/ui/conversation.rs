//! One conversation: its state and the views of its parts.

pub mod agent;
mod attachments;
pub mod composer;
mod controls;
mod entry;
mod growing;
mod markdown;
mod message;
pub mod outbox;
mod question;
pub mod seek;
mod slash;
pub mod state;
pub mod timeline;
mod tool;
pub mod transcript;
