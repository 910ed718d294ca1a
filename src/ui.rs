//! Pages and components, compiled for server and browser alike.
//!
//! Rule at the door: views are made from `domain` and `wire` types; data comes from `api`; all that
//! only a browser can do is asked of `platform`.

mod active;
pub mod app;
mod components;
mod conversation;
mod in_view;
mod listing;
mod memory;
mod outbox;
mod overlay;
mod pages;
pub mod parts;
mod plain;
mod platform;
pub mod refused;
mod sight;
pub mod sign_in;
mod state;
mod unsent;
