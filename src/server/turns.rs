//! How a turn enters the system, and what becomes of turns that a stop cut short.

pub mod recovery;
pub mod submit;
