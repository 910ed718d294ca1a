//! A moment, first as the server can write it, then as the reader's own clock has it.

use leptos::prelude::*;

use crate::domain::time::Timestamp;
use crate::ui::platform;
use crate::ui::state::AppState;

/// Shows a time. The server does not know the reader's time zone, so it writes the date in UTC,
/// and the browser puts its own words there once the page is alive.
#[component]
pub fn Time(#[prop(into)] at: Signal<Timestamp>) -> impl IntoView {
    let alive = AppState::current().alive;
    let text = move || {
        if alive.get() {
            return platform::local_time(at.get());
        }
        let full = at.get().to_string();
        full.get(..10).unwrap_or_default().to_owned()
    };
    view! { <time datetime=move || at.get().to_string()>{text}</time> }
}
