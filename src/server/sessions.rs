//! Who runs, and how: one task per session owns its agent, its numbers and its recent events.

mod board;
mod chronicle;
mod conduct;
mod desk;
mod error;
mod idempotency;
mod inbox;
mod lineage;
mod note;
mod publish;
mod question;
mod registry;
mod ring;
mod scribe;
mod task;
mod task_table;

pub use board::{Board, ListChange};
pub use chronicle::{Chronicle, Entry, Happened, Reading};
pub use conduct::preview_of;
pub use desk::Desk;
pub use error::SessionError;
pub use idempotency::CommandCache;
pub use inbox::{Feed, TaskCommand, Turn};
pub use registry::Registry;
pub use ring::{Numbered, Replay};
pub use scribe::write_down;
pub use task::TaskMeta;
