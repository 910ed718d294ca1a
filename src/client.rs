//! The browser's own part: what a page asks of the machine it runs on.
//!
//! Rule at the door: knows `wire` and `domain`, and nothing of views.

pub mod outbox;
pub mod socket;
pub mod storage;
pub mod upload;

mod black_box;
mod page;

pub use page::{
    copy_text, is_touch, local_time, mark_hydrated, mint_id, path, reload, remember_theme,
    remembered_theme, scroll_to_end,
};
