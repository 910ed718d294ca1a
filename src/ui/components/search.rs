//! Finding a conversation by its words.

use leptos::prelude::*;
use leptos::reactive::spawn_local;
use leptos_router::components::A;

use super::address;
use super::element::{element, text_element};
use crate::api::sessions::search_sessions;
use crate::domain::list::shown_title;
use crate::wire::error::Failure;
use crate::wire::rest::SearchHit;

/// What a search has come to.
type Found = Option<Result<Vec<SearchHit>, Failure>>;

/// Asks the server for what is typed, one request at a time: words typed meanwhile are asked for
/// when the answer is there, and an answer to older words is never shown.
#[derive(Clone, Copy)]
pub struct Search {
    pub words: RwSignal<String>,
    found: RwSignal<Found>,
    under_way: StoredValue<bool>,
}

impl Search {
    pub fn new() -> Self {
        Self {
            words: RwSignal::default(),
            found: RwSignal::new(None),
            under_way: StoredValue::new(false),
        }
    }

    pub fn is_empty(self) -> bool {
        self.words.with(|words| words.trim().is_empty())
    }

    fn typed(self, words: String) {
        self.words.set(words);
        if !self.under_way.get_value() {
            self.ask();
        }
    }

    fn ask(self) {
        let Some(words) = self.words.try_get_untracked() else { return };
        if words.trim().is_empty() {
            return self.found.set(None);
        }
        self.under_way.set_value(true);
        spawn_local(async move {
            let found = search_sessions(words.clone()).await;
            self.under_way.set_value(false);
            if self.words.try_get_untracked().as_ref() == Some(&words) {
                self.found.set(Some(found));
            } else {
                self.ask();
            }
        });
    }
}

#[component]
pub fn SearchBox(search: Search) -> impl IntoView {
    view! {
        <form class="search" role="search" on:submit=|event| event.prevent_default()>
            <input
                r#type="search"
                aria-label="Search conversations"
                placeholder="Search"
                prop:value=move || search.words.get()
                on:input:target=move |event| search.typed(event.target().value())
            />
        </form>
    }
}

#[component]
pub fn SearchResults(search: Search) -> impl IntoView {
    view! {
        <div class="results" role="status">
            {move || match search.found.get() {
                None => text_element("p", "hint", "Searching…".to_owned()),
                Some(Err(failure)) => text_element("p", "problem", failure.message),
                Some(Ok(hits)) if hits.is_empty() => {
                    let words = "Nothing found. Try fewer or other words.";
                    text_element("p", "hint", words.to_owned())
                }
                Some(Ok(hits)) => {
                    element("ul", "rows", hits.into_iter().map(hit_view).collect())
                }
            }}
        </div>
    }
}

fn hit_view(hit: SearchHit) -> AnyView {
    let href = address::of_message(&hit.session.session_id, hit.message_id.as_ref());
    let title = shown_title(&hit.session.title).to_owned();
    let pieces = hit
        .snippet
        .into_iter()
        .map(|piece| text_element(if piece.hit { "mark" } else { "span" }, "", piece.text));
    let snippet = element("span", "row-line", pieces.collect());
    view! {
        <li>
            <A href=href attr:class="row found">
                <span class="row-title">{title}</span>
                {snippet}
            </A>
        </li>
    }
    .into_any()
}
