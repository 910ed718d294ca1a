//! The views of the list, and the links that choose between them.

use leptos::ev::MouseEvent;
use leptos::prelude::*;
use leptos_router::hooks::use_location;

use crate::domain::list::ListView;
use crate::ui::components::element::element;
use crate::ui::state::AppState;
use crate::wire::error::Failure;
use crate::wire::list::{Overview, ViewCounts};

/// What the address calls a view, what a person calls it, and how many rows it has.
type View = (&'static str, &'static str, ListView, fn(ViewCounts) -> u32);

const VIEWS: [View; 3] = [
    ("?view=current", "Current", ListView::Leaves, |counts| counts.leaves),
    ("?view=all", "All", ListView::Visible, |counts| counts.visible),
    ("?view=archived", "Archived", ListView::Archived, |counts| counts.archived),
];

/// Tells which view the address asks for: what is current, unless it says otherwise.
pub fn asked_for() -> ListView {
    let asked = use_location().query.with_untracked(|query| query.get("view"));
    match asked.as_deref() {
        Some("all") => ListView::Visible,
        Some("archived") => ListView::Archived,
        _ => ListView::Leaves,
    }
}

/// Links to each view, with the number of its rows. With script they change the list beside
/// whatever page is open; without, they lead to that page with another list.
#[component]
pub fn Views(fetched: Resource<Result<Overview, Failure>>) -> impl IntoView {
    let app = AppState::current();
    let counts = move || {
        let first = fetched.with(|it| Some(it.as_ref()?.as_ref().ok()?.counts));
        app.counts.get().or(first)
    };
    element("div", "views", VIEWS.iter().map(|it| link(it, app, counts)).collect())
}

fn link(
    (address, name, of, count): &'static View,
    app: AppState,
    counts: impl Fn() -> Option<ViewCounts> + Copy + Send + Sync + 'static,
) -> AnyView {
    let is_chosen = move || (app.view.get() == *of).then_some("true");
    let choose = move |event: MouseEvent| {
        event.prevent_default();
        app.choose_view(*of);
    };
    view! {
        <a class="button quiet" href=*address aria-current=is_chosen on:click=choose>
            {*name}
            <span class="count">
                <Transition>{move || counts().map(|it| count(it).to_string())}</Transition>
            </span>
        </a>
    }
    .into_any()
}
