//! How a turn enters the system, how far it got, and what becomes of turns that a stop cut short.

pub mod answer;
pub mod audit;
mod entry;
pub mod gate;
pub mod log;
pub mod reconcile;
pub mod recovery;
pub mod submit;
