//! One file a command. Each reads top to bottom as the steps a person would take by hand.

pub mod agents;
pub mod bench;
pub mod build;
pub mod check;
pub mod dev;
pub mod dist;
pub mod run;
pub mod size;
pub mod test;
