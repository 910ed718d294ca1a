//! Turns: how one is submitted and committed, how far it got, and what becomes of turns that a stop
//! cut short.

pub mod answer;
pub mod audit;
pub mod committer;
pub mod log;
pub mod reconcile;
pub mod recovery;
pub mod submit;
pub mod withdraw;
