//! The title of the page in the browser's tab.

use leptos::prelude::*;

use crate::ui::state::AppState;

/// Names the page for as long as it is shown. The app's one title outlives every page, so a page
/// that has gone is never asked for its name.
#[component]
pub fn PageTitle(#[prop(into)] text: Signal<String>) -> impl IntoView {
    let title = AppState::current().title;
    title.set(text.get_untracked());
    Effect::new(move || title.set(text.get()));
}
