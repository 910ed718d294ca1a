//! The title of the page in the browser's tab.

use leptos::prelude::*;
use leptos_meta::Title;

use crate::ui::platform;

/// Names the page; without a name of its own it bears the app's.
#[component]
pub fn PageTitle(#[prop(into)] text: Signal<String>) -> impl IntoView {
    let full = move || {
        let own = text.get();
        let name = if own.is_empty() { "Throughline".to_owned() } else { own + " · Throughline" };
        platform::text_of_title(name)
    };
    view! { <Title text=full /> }
}
