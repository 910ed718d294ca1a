//! Pieces that several pages share.

pub mod address;
pub mod element;
pub mod frame;
pub mod icon;
pub mod modal;
pub mod new_button;
pub mod page_head;
pub mod page_title;
pub mod palette;
pub mod row_actions;
pub mod search;
pub mod session_list;
pub mod sheet;
pub mod shortcuts;
pub mod strip;
pub mod time;
pub mod unavailable;
