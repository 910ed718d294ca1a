//! The turn journal: what a person submitted is on the disk before anybody says so.
//!
//! One file a session, `<data>/_turn_journal/<session_id>.jsonl`, one record a line, only ever
//! appended to. Everything here blocks on the disk; async callers go through `spawn_blocking`.
//!
//! - [`Storage`]: the few things asked of a disk, so that a test can own it and cut its power.
//! - [`Journal`]: appends, reads and prunes, one session at a time and sessions side by side.
//! - [`PendingLine`]: a line that is on the disk while the database decides whether it stays.
//! - [`SessionJournal`]: what a file says, with every problem in it and never stopped by one.

mod bounded_lines;
mod error;
mod open_files;
mod prune;
mod reader;
mod session_file;
mod shared_log;
mod storage;
mod writer;

pub use error::JournalError;
pub use open_files::MAX_OPEN_FILES;
pub use prune::Pruned;
pub use reader::{ForeignEdit, Listing, Load, Problem, SessionJournal, Turn, read_session};
pub use storage::{AppendFile, DirStorage, Storage, file_name, session_of};
pub use writer::{Journal, PendingLine};
