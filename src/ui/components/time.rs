//! A moment, first as the server can write it, then as the reader's own clock has it.

use leptos::prelude::*;

use crate::domain::time::Timestamp;
use crate::ui::platform;
use crate::ui::state::AppState;

/// Shows a time. The server does not know the reader's time zone, so it writes the date in UTC,
/// and the browser puts its own words there once the page is alive.
#[component]
pub fn Time(at: Timestamp, #[prop(optional)] class: Option<&'static str>) -> impl IntoView {
    let alive = AppState::current().alive;
    move || time(at, alive.get(), class)
}

/// The same, for a view that knows whether the page is alive.
pub fn time(at: Timestamp, alive: bool, class: Option<&'static str>) -> impl IntoView + use<> {
    let full = at.to_string();
    let text = match alive {
        true => platform::local_time(at),
        false => full.get(..10).unwrap_or_default().to_owned(),
    };
    view! { <time class=class datetime=full>{text}</time> }
}
