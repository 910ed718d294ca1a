//! Who runs, and how: one task per session owns its agent, its numbers and its recent events.

mod board;
mod chronicle;
mod commands;
mod conduct;
mod desk;
mod lineage;
mod note;
mod publish;
mod question;
mod registry;
mod ring;
mod scribe;
mod task;

pub use board::{Board, ListChange};
pub use chronicle::{Chronicle, Entry, Happened, Reading};
pub use commands::{CommandAnswer, CommandLog};
pub use desk::Desk;
pub use registry::{Registry, SessionError};
pub use ring::{Numbered, Replay};
pub use task::{Feed, TaskCommand, TaskMeta, Turn};
