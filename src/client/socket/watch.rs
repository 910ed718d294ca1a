//! Notices when the socket is dead, and when the page has reason to think that it may be: a phone
//! that was asleep gets no word of a connection that died meanwhile.

use std::cell::Cell;
use std::time::Duration;

use leptos::prelude::{set_interval, set_timeout};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Event, WebSocket};

use super::{open, replace, send, with_link};
use crate::wire::socket::ClientFrame;

/// How often a quiet socket is asked for a sign of life.
const ASK_EVERY: Duration = Duration::from_secs(20);

/// How long it has to give one.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// How long it has, and how often it is asked, while the browser knows of no network.
const ANSWER_OFFLINE_WITHIN: Duration = Duration::from_secs(2);

thread_local! {
    /// Whether the socket is asked again and again until the network is back.
    static INSISTING: Cell<bool> = const { Cell::new(false) };
}

/// Watches the socket for as long as the page lives.
pub fn start() {
    set_interval(ask, ASK_EVERY);
    let Some(window) = web_sys::window() else {
        return;
    };
    let wake = Closure::<dyn FnMut(Event)>::new(|_| wake());
    let listener = wake.as_ref().unchecked_ref();
    // Adding a listener to a window or document that is there cannot fail.
    for event in ["online", "offline", "pageshow"] {
        let _ = window.add_event_listener_with_callback(event, listener);
    }
    if let Some(document) = window.document() {
        let _ = document.add_event_listener_with_callback("visibilitychange", listener);
    }
    // The page listens for as long as it lives.
    wake.into_js_value();
}

/// Makes sure of the connection now, without waiting for the next try. A server on this machine is
/// reached without a network, so losing that is no more than a reason to ask.
fn wake() {
    let hidden =
        web_sys::window().and_then(|window| window.document()).is_some_and(|it| it.hidden());
    if hidden {
        return;
    }
    let state = with_link(|link| link.socket.as_ref().map(WebSocket::ready_state)).flatten();
    match state {
        Some(WebSocket::OPEN) if is_offline() => insist(),
        Some(WebSocket::OPEN) => ask(),
        Some(WebSocket::CONNECTING) => {}
        _ => open(),
    }
}

/// Asks again and again: words that were on their way are taken for a sign of life, once.
fn insist() {
    if !INSISTING.replace(true) {
        insist_once();
    }
}

fn insist_once() {
    ask_within(ANSWER_OFFLINE_WITHIN);
    let again = || match is_offline() {
        true => insist_once(),
        false => INSISTING.set(false),
    };
    set_timeout(again, ANSWER_OFFLINE_WITHIN);
}

fn is_offline() -> bool {
    web_sys::window().is_some_and(|window| !window.navigator().on_line())
}

fn ask() {
    ask_within(ANSWER_WITHIN);
}

/// Asks for a sign of life, and gives the socket up when none comes.
fn ask_within(patience: Duration) {
    let asked_at = js_sys::Date::now();
    let Some(attempt) = with_link(|link| link.attempt) else {
        return;
    };
    if !send(&ClientFrame::RpcPing { ts: asked_at }) {
        return;
    }
    let check = move || {
        let silent = with_link(|link| link.attempt == attempt && link.heard_at < asked_at);
        if silent.unwrap_or_default() {
            replace();
        }
    };
    set_timeout(check, patience);
}
