//! One file a page.

pub mod archive;
pub mod conversation;
pub mod home;
pub mod new;
pub mod not_found;
pub mod recovery;
pub mod settings;
