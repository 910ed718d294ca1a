//! The turn journal: what a person submitted is on the disk before anybody says so.
//!
//! One file a session, `<data>/_turn_journal/<session_id>.jsonl`, one record a line, only ever
//! appended to. Everything here blocks on the disk; async callers go through `spawn_blocking`.
//!
//! - [`Storage`]: the few things asked of a disk, so that a test can own it and cut its power.
//! - [`Journal`]: appends, reads and prunes, one session at a time and sessions side by side.
//! - [`NewLine`]: a line of one among many who wait for the disk, and for one sync of it, together.
//! - [`SessionJournal`]: what a file says, with every problem in it and never stopped by one.

mod crowd;
mod error;
mod files;
mod lines;
mod prune;
mod reader;
mod slot;
mod storage;
mod together;
mod writer;

pub use crowd::{NewLine, Synced};
pub use error::JournalError;
pub use files::MOST_OPEN;
pub use prune::Pruned;
pub use reader::{Keep, Listing, Problem, SessionJournal, Sign, Turn, read_session};
pub use storage::{AppendFile, Folder, Storage, file_name, session_of};
pub use writer::{Journal, Place};
