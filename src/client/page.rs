//! Small services of the page: ids, times, theme, clipboard, scrolling.

use js_sys::Intl::DateTimeFormat;
use js_sys::{Array, Date, Object, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Element, HtmlElement};

use crate::domain::time::Timestamp;

/// Tells tests and styles that the page is alive.
pub fn mark_hydrated() {
    if let Some(root) = root() {
        // Setting a plain attribute on <html> cannot fail.
        let _ = root.set_attribute("data-hydrated", "");
    }
}

/// Gives the path of the page in view.
pub fn path() -> String {
    web_sys::window().and_then(|window| window.location().pathname().ok()).unwrap_or_default()
}

/// Loads the page in view anew.
pub fn reload() {
    if let Some(window) = web_sys::window() {
        // A browser that refuses leaves the page as it is.
        let _ = window.location().reload();
    }
}

/// Mints an id that no other device mints: the time and 80 random bits in hexadecimal. Ids of one
/// time stand together in the store's indexes, which makes them cheap to add.
///
/// `crypto.randomUUID` would be shorter, but is missing on plain HTTP, where phones often are.
pub fn mint_id() -> String {
    let mut bytes = [0_u8; 16];
    let (time, chance) = bytes.split_at_mut(6);
    time.copy_from_slice(&(Date::now() as u64).to_be_bytes()[2..]);
    if let Some(crypto) = web_sys::window().and_then(|window| window.crypto().ok()) {
        let random = Uint8Array::new_with_length(10);
        if crypto.get_random_values_with_js_u8_array(&random).is_ok() {
            random.copy_to(chance);
        }
    }
    let mut id = String::with_capacity(32);
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            id.push(char::from_digit(u32::from(digit), 16).unwrap_or('0'));
        }
    }
    id
}

/// Tells whether the reader types on glass, where Enter should make a new line.
pub fn is_touch() -> bool {
    let query = web_sys::window().and_then(|window| window.match_media("(pointer: coarse)").ok());
    query.flatten().is_some_and(|query| query.matches())
}

pub fn copy_text(text: &str) {
    if let Some(window) = web_sys::window() {
        // The browser may refuse; there is nothing better to do than leave the text selectable.
        let _ = window.navigator().clipboard().write_text(text);
    }
}

thread_local! {
    /// The writers of hours and of days: making one takes longer than a whole row of the list.
    static HOUR: DateTimeFormat = writer(&[("hour", "2-digit"), ("minute", "2-digit")]);
    static DAY: DateTimeFormat = writer(&[("day", "numeric"), ("month", "short")]);
}

fn writer(fields: &[(&str, &str)]) -> DateTimeFormat {
    let options = Object::new();
    for (name, value) in fields {
        // Setting a field of a fresh object cannot fail.
        let _ = Reflect::set(&options, &JsValue::from_str(name), &JsValue::from_str(value));
    }
    DateTimeFormat::new(&Array::new(), &options)
}

/// Writes a time as the reader's own clock and customs have it: today the hour, else the day.
pub fn local_time(at: Timestamp) -> String {
    let date = Date::new(&JsValue::from_f64(at.millis() as f64));
    let day = |date: &Date| (date.get_date(), date.get_month(), date.get_full_year());
    let today = day(&Date::new_0()) == day(&date);
    let write = |writer: &DateTimeFormat| writer.format().call1(&JsValue::UNDEFINED, &date);
    let text = if today { HOUR.with(write) } else { DAY.with(write) };
    text.ok().and_then(|text| text.as_string()).unwrap_or_default()
}

/// Keeps the theme in a cookie, so that the server's first paint already has it.
pub fn remember_theme(theme: &str) {
    let Some(root) = root() else {
        return;
    };
    // Setting a plain attribute on <html> cannot fail.
    let _ = match theme {
        "light" | "dark" => root.set_attribute("data-theme", theme),
        _ => root.remove_attribute("data-theme"),
    };
    let document: Option<web_sys::HtmlDocument> =
        root.owner_document().and_then(|document| document.dyn_into().ok());
    if let Some(document) = document {
        let cookie = ["theme=", theme, "; path=/; max-age=31536000; samesite=lax"].concat();
        let _ = document.set_cookie(&cookie);
    }
}

pub fn remembered_theme() -> String {
    root().and_then(|root| root.get_attribute("data-theme")).unwrap_or_default()
}

/// Brings the end of a transcript into view.
pub fn scroll_to_end(scroller: &Element) {
    scroller.set_scroll_top(0);
}

fn root() -> Option<HtmlElement> {
    web_sys::window()?.document()?.document_element()?.dyn_into().ok()
}
