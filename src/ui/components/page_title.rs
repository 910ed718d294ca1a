//! The title of the page in the browser's tab.

use leptos::prelude::*;

use crate::ui::state::AppState;

/// Names the page for as long as it is shown, and counts it. The app's one title outlives every page, so a page
/// that has gone is never asked for its name.
#[component]
pub fn PageTitle(#[prop(into)] text: Signal<String>) -> impl IntoView {
    let app = AppState::current();
    let title = app.title;
    title.set(text.get_untracked());
    app.count_page();
    Effect::new(move || title.set(text.get()));
}
