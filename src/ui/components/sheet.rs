//! A sheet that opens under the head of a page.

use leptos::ev::Event;
use leptos::prelude::*;
use leptos::web_sys::Element;

/// Shows what is in it once it is opened, and says when that is.
#[component]
pub fn Sheet(name: &'static str, on_open: Callback<()>, children: Children) -> impl IntoView {
    let toggle = move |event: Event| {
        if event_target::<Element>(&event).has_attribute("open") {
            on_open.run(());
        }
    };
    view! {
        <details class="timeline" on:toggle=toggle>
            <summary class="button quiet">{name}</summary>
            <div class="sheet">{children()}</div>
        </details>
    }
}
