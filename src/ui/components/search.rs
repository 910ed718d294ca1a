//! Finding a conversation by its words.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use leptos::reactive::spawn_local;
use leptos_router::components::A;

use super::address;
use super::element::{element, text_element};
use crate::api::sessions::search_sessions;
use crate::domain::list::shown_title;
use crate::ui::platform;
use crate::wire::error::Failure;
use crate::wire::rest::{SearchHit, SnippetPiece};

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

    /// Gives what was found.
    pub fn hits(self) -> Vec<SearchHit> {
        self.found.with(|found| match found {
            Some(Ok(hits)) if !self.is_empty() => hits.clone(),
            _ => Vec::new(),
        })
    }

    /// Says what there is to say in place of hits.
    pub fn state_words(self) -> String {
        if self.is_empty() {
            return String::new();
        }
        self.found.with(|found| match found {
            None => "Searching…".to_owned(),
            Some(Err(failure)) => failure.message.clone(),
            Some(Ok(hits)) if hits.is_empty() => {
                "Nothing found. Try fewer or other words.".to_owned()
            }
            Some(Ok(_)) => String::new(),
        })
    }

    pub fn typed(self, words: String) {
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
    let on_key = move |event: KeyboardEvent| match event.key().as_str() {
        "Escape" if search.words.with_untracked(String::is_empty) => platform::leave_field(&event),
        "Escape" => search.typed(String::new()),
        "ArrowDown" | "Enter" => platform::step_row(true),
        _ => {}
    };
    view! {
        <form class="search" role="search" on:submit=|event| event.prevent_default()>
            <input
                r#type="search"
                id="search"
                aria-label="Search conversations"
                placeholder="Search"
                prop:value=move || search.words.get()
                on:input:target=move |event| search.typed(event.target().value())
                on:keydown=on_key
            />
        </form>
    }
}

#[component]
pub fn SearchResults(search: Search) -> impl IntoView {
    let failed = move || search.found.with(|found| matches!(found, Some(Err(_))));
    let class = move || if failed() { "problem" } else { "hint" };
    let words = move || {
        let words = search.state_words();
        (!words.is_empty()).then(|| text_element("p", class(), words))
    };
    let hits = move || element("ul", "rows", search.hits().into_iter().map(hit_view).collect());
    view! {
        <div class="results" role="status">
            {words}
            {hits}
        </div>
    }
}

/// Shows the words around a hit, with what was looked for marked.
pub fn snippet_view(class: &'static str, pieces: Vec<SnippetPiece>) -> AnyView {
    let piece =
        |piece: SnippetPiece| text_element(if piece.hit { "mark" } else { "span" }, "", piece.text);
    element("span", class, pieces.into_iter().map(piece).collect())
}

fn hit_view(hit: SearchHit) -> AnyView {
    let href = address::of_message(&hit.session.session_id, hit.message_id.as_ref());
    let title = shown_title(&hit.session.title).to_owned();
    let snippet = snippet_view("row-line", hit.snippet);
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
