//! What crosses a border: frames, replies and errors, in shapes that other programs rely on.
//!
//! Rule at the door: types and their serde attributes, built on `domain` alone.

pub mod error;
pub mod journal;
pub mod list;
pub mod outbox;
pub mod recovery;
pub mod refused;
pub mod rest;
pub mod restore;
pub mod sign_in;
pub mod socket;
pub mod text_json;
