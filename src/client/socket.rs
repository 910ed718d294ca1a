//! The one socket of the tab: it opens, reopens and carries frames, and knows nothing of them.

mod watch;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use leptos::prelude::set_timeout;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{CloseEvent, MessageEvent, WebSocket};

use crate::wire::socket::{ClientFrame, PROTOCOL, ServerFrame, Subscription};

/// The shortest and longest wait before the socket is opened again.
const FIRST_WAIT_MS: f64 = 250.0;
const LONGEST_WAIT_MS: f64 = 15_000.0;

/// What the owner of the socket wants to be asked and told.
struct Handlers {
    /// Names what to subscribe to when the socket opens.
    subscriptions: Box<dyn Fn() -> Vec<Subscription>>,
    on_frame: Box<dyn Fn(ServerFrame)>,
    on_break: Box<dyn Fn()>,
}

struct Link {
    handlers: Rc<Handlers>,
    socket: Option<WebSocket>,
    failures: i32,
    /// Counts the sockets made and the waits begun; what belongs to an older one is ignored.
    attempt: u32,
    /// When the last frame came, in milliseconds since 1970.
    heard_at: f64,
}

thread_local! {
    static LINK: RefCell<Option<Link>> = const { RefCell::new(None) };
}

/// Opens the socket and keeps it open from now on.
pub fn connect(
    subscriptions: impl Fn() -> Vec<Subscription> + 'static,
    on_frame: impl Fn(ServerFrame) + 'static,
    on_break: impl Fn() + 'static,
) {
    let handlers = Rc::new(Handlers {
        subscriptions: Box::new(subscriptions),
        on_frame: Box::new(on_frame),
        on_break: Box::new(on_break),
    });
    let first = LINK.with_borrow_mut(|link| {
        let first = link.is_none();
        *link = Some(Link { handlers, socket: None, failures: 0, attempt: 0, heard_at: 0.0 });
        first
    });
    if first {
        open();
        watch::start();
    }
}

/// Sends a frame, and tells whether the socket took it.
pub fn send(frame: &ClientFrame) -> bool {
    let Ok(text) = serde_json::to_string(frame) else {
        return false;
    };
    LINK.with_borrow(|link| {
        let socket = link.as_ref().and_then(|link| link.socket.as_ref());
        socket.is_some_and(|socket| {
            socket.ready_state() == WebSocket::OPEN && socket.send_with_str(&text).is_ok()
        })
    })
}

/// Opens a socket in place of whatever there was or is being waited for.
fn open() {
    let Some(address) = address() else {
        return;
    };
    let attempt = next_attempt();
    let Ok(socket) = WebSocket::new(&address) else {
        return open_later();
    };
    let on_open = Closure::<dyn FnMut()>::new(greet);
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new(move |message| {
        if is_current(attempt) {
            receive(&message);
        }
    });
    let on_close = Closure::<dyn FnMut(CloseEvent)>::new(move |_| {
        if is_current(attempt) {
            with_handlers(|handlers| (handlers.on_break)());
            open_later();
        }
    });
    socket.set_onopen(Some(on_open.as_ref().unchecked_ref()));
    socket.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    socket.set_onclose(Some(on_close.as_ref().unchecked_ref()));
    // The browser holds the handlers for as long as it holds the socket.
    on_open.into_js_value();
    on_message.into_js_value();
    on_close.into_js_value();
    with_link(|link| link.socket = Some(socket));
}

/// Lets go of a socket that does not answer, and opens another at once.
fn replace() {
    let old = with_link(|link| link.socket.take()).flatten();
    next_attempt();
    if let Some(old) = old {
        // It may be closed already.
        let _ = old.close();
    }
    with_handlers(|handlers| (handlers.on_break)());
    open();
}

fn next_attempt() -> u32 {
    with_link(|link| {
        link.attempt += 1;
        link.attempt
    })
    .unwrap_or_default()
}

fn is_current(attempt: u32) -> bool {
    with_link(|link| link.attempt == attempt).unwrap_or_default()
}

fn with_link<T>(change: impl FnOnce(&mut Link) -> T) -> Option<T> {
    LINK.with_borrow_mut(|link| link.as_mut().map(change))
}

fn greet() {
    let subscriptions = with_handlers(|handlers| (handlers.subscriptions)()).unwrap_or_default();
    send(&ClientFrame::Hello { protocol: PROTOCOL, subscriptions });
}

fn receive(message: &MessageEvent) {
    with_link(|link| link.heard_at = js_sys::Date::now());
    let Some(text) = message.data().as_string() else {
        return;
    };
    // A frame that is not understood changes nothing.
    let Ok(frame) = serde_json::from_str::<ServerFrame>(&text) else {
        return;
    };
    if matches!(frame, ServerFrame::Welcome { .. }) {
        with_link(|link| link.failures = 0);
    }
    with_handlers(|handlers| (handlers.on_frame)(frame));
}

/// Calls a handler without holding the link, for a handler may send.
fn with_handlers<T>(call: impl FnOnce(&Handlers) -> T) -> Option<T> {
    let handlers = LINK.with_borrow(|link| link.as_ref().map(|link| Rc::clone(&link.handlers)))?;
    Some(call(&handlers))
}

/// Waits longer after each failure, with some chance in it so that tabs do not march in step.
fn open_later() {
    let failures = with_link(|link| {
        link.socket = None;
        link.failures += 1;
        link.failures
    });
    let failures = failures.unwrap_or_default();
    let attempt = next_attempt();
    let longest = (FIRST_WAIT_MS * f64::from(1 << failures.min(6))).min(LONGEST_WAIT_MS);
    let wait = longest * (0.5 + js_sys::Math::random() / 2.0);
    let open = move || {
        // Something may have opened it sooner, such as the network's return.
        if is_current(attempt) {
            open();
        }
    };
    set_timeout(open, Duration::from_millis(wait as u64));
}

fn address() -> Option<String> {
    let location = web_sys::window()?.location();
    let scheme = if location.protocol().ok()? == "https:" { "wss://" } else { "ws://" };
    Some([scheme, &location.host().ok()?, "/ws"].concat())
}
