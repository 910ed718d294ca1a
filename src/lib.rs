//! Throughline: many AI-agent conversations from one browser tab, and never a lost thread.
//!
//! One crate with two faces: `ssr` is the server binary, `hydrate` the WebAssembly module that the
//! browser runs. What both need is pure and stands in the middle.
//!
//! - [`domain`]: what things are and how they change; no clock, no IO.
//! - [`wire`]: what crosses a border.
//! - [`api`]: the functions that pages call on the server.
//! - [`ui`]: pages and components, rendered on the server and brought to life in the browser.
//! - `client`: the browser's own part: socket, storage, page.
//! - `server`: everything that touches disk, network, clock or processes.
//!
//! This file is the only one that decides which of them a build contains.

#![recursion_limit = "256"]

pub mod api;
#[cfg(feature = "hydrate")]
mod client;
pub mod domain;
#[cfg(feature = "ssr")]
pub mod server;
pub mod ui;
pub mod wire;

/// Brings the server's page to life, once the part of the app that it belongs to is there. A part
/// that does not come leaves the page as the server sent it: it can be read, and its forms work.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub async fn hydrate() {
    console_error_panic_hook::set_once();
    let loaded = match ui::parts::Page::at(&client::path()) {
        Some(page) => page.load().await,
        None => true,
    };
    if loaded {
        leptos::mount::hydrate_body(ui::app::App);
    }
}
