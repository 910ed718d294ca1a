//! The rows of a view: those in sight are on the page, the others are room above and below.

use std::sync::Arc;

use leptos::prelude::*;
use leptos_router::hooks::use_location;

use super::row::Row;
use crate::domain::list::ListView;
use crate::domain::session::Session;
use crate::ui::components::element::text_element;
use crate::ui::listing::OpenList;
use crate::ui::platform;
use crate::ui::state::AppState;

#[component]
pub fn Rows(open: OpenList) -> impl IntoView {
    let app = AppState::current();
    let sight = app.sight;
    let path = use_location().pathname;
    let choosing = Memo::new(move |_| app.chosen.with(Option::is_some));
    let listing = open.rows.clone();
    let on_page = Memo::new(move |_| listing.with(|listing| sight.window.get().of(listing.rows())));
    let listing = open.rows.clone();
    let left_out = Memo::new(move |_| {
        listing.with(|listing| sight.window.get().left_out(listing.rows().len()))
    });
    Effect::new(move || {
        if let Some(list) = sight.list.get() {
            let (above, below) = left_out.get();
            platform::leave_room(&list, above, below);
        }
    });
    let words = match open.view {
        ListView::Archived => "Nothing is archived.",
        _ => "No conversations yet. Start one: the demo agent needs no key.",
    };
    let listing = open.rows.clone();
    let is_empty = Memo::new(move |_| listing.with(|listing| listing.rows().is_empty()));
    let empty = move || is_empty.get().then(|| text_element("p", "hint", words.to_owned()));
    let listing = open.rows.clone();
    let row_view = move |row: Arc<Session>| {
        let listing = listing.clone();
        let newest = Memo::new(move |_| {
            let known = listing.with(|listing| listing.get(&row.session_id).cloned());
            known.unwrap_or_else(|| Arc::clone(&row))
        });
        view! { <Row row=newest path choosing /> }
    };
    view! {
        {empty}
        <ul class="rows" node_ref=sight.list>
            <For each=move || on_page.get() key=|row| row.session_id.clone() children=row_view />
        </ul>
        <Older open />
    }
}

/// Says why the list does not go on by itself, and lets it.
#[component]
fn Older(open: OpenList) -> impl IntoView {
    let app = AppState::current();
    let OpenList { next, problem, .. } = open.clone();
    let fetch = move |_| open.fetch_next(app);
    view! {
        {move || problem.get().map(|text| text_element("p", "problem", text))}
        <Show when=move || next.with(Option::is_some)>
            <button r#type="button" class="button quiet" on:click=fetch.clone()>
                "Show older conversations"
            </button>
        </Show>
    }
}
