//! The browser's own part: what a page asks of the machine it runs on.
//!
//! Rule at the door: knows `wire` and `domain`, and nothing of views.

pub mod outbox;
pub mod socket;
pub mod storage;
pub mod upload;

mod black_box;
mod dialog;
mod keyboard;
mod page;
mod scroll;

pub use dialog::{close_modal, focus, select_text, show_choice, show_modal};
pub use keyboard::{
    focus_page, focus_search, is_typing, is_writing, keep_row_focus, leave_field, step_row,
};
pub use page::{
    copy_text, is_touch, local_time, mark_hydrated, mint_id, path, reload, remember_theme,
    remembered_theme, scroll_to_end,
};
pub use scroll::{leave_room, next_frame, next_task, place_of, scroll_by, scroll_to};
