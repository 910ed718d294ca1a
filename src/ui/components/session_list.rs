//! The list of conversations.

use leptos::prelude::*;
use leptos::reactive::spawn_local;
use leptos_router::components::A;

use super::address;
use super::element::text_element;
use super::icon::{GEAR, Icon};
use super::new_button::NewButton;
use super::search::{Search, SearchBox, SearchResults};
use super::time::Time;
use crate::api::sessions::list_sessions;
use crate::domain::ids::SessionId;
use crate::domain::lineage::{Lineages, Node};
use crate::domain::list::{merge, shown_title};
use crate::domain::resolver::visible;
use crate::domain::session::{Session, Status};
use crate::ui::state::{AppState, RowChanges};
use crate::wire::error::Failure;
use crate::wire::rest::SessionPage;

#[component]
pub fn SessionList() -> impl IntoView {
    let state = AppState::current();
    let search = Search::new();
    let fetched = Resource::new(move || state.returns.get(), |_| list_sessions(None, Vec::new()));
    view! {
        <header class="sidebar-head">
            <A href="/" attr:class="wordmark">
                "Throughline"
            </A>
            <A href="/settings" attr:class="button quiet" attr:aria-label="Settings">
                <Icon path=GEAR />
            </A>
        </header>
        <NewButton />
        <SearchBox search />
        <Show when=move || !search.is_empty()>
            <SearchResults search />
        </Show>
        <div hidden=move || !search.is_empty()>
            <Transition fallback=|| view! { <p class="hint">"Loading…"</p> }>
                {move || Suspend::new(async move { rows_view(state, fetched.await) })}
            </Transition>
        </div>
    }
}

fn rows_view(state: AppState, fetched: Result<SessionPage, Failure>) -> AnyView {
    let pages = match fetched {
        Ok(page) => ArcRwSignal::new(page),
        Err(failure) => return text_element("p", "problem", failure.message),
    };
    let shown = pages.clone();
    let rows = Memo::new(move |_| {
        shown.with(|page| {
            state.rows.with(|changes| {
                state.active.with(|active| current(&page.sessions, changes, active))
            })
        })
    });
    let empty = move || {
        let words = "No conversations yet. Start one: the demo agent needs no key.";
        rows.with(Vec::is_empty).then(|| text_element("p", "hint", words.to_owned()))
    };
    let by_id = move |id: &SessionId| {
        rows.with(|rows| rows.iter().find(|row| row.session_id == *id).cloned())
    };
    view! {
        {empty}
        <ul class="rows">
            <For
                each=move || rows.get()
                key=|row| row.session_id.clone()
                children=move |row| {
                    let id = row.session_id.clone();
                    let row = Memo::new(move |_| by_id(&id).unwrap_or_else(|| row.clone()));
                    view! { <Row row /> }
                }
            />
        </ul>
        <Older pages />
    }
    .into_any()
}

/// Fetches the next page of the list and puts it below.
#[component]
fn Older(pages: ArcRwSignal<SessionPage>) -> impl IntoView {
    let problem = RwSignal::new(None);
    let known = pages.clone();
    let fetch = move |_| {
        let pages = known.clone();
        spawn_local(async move {
            let cursor = pages.with_untracked(|page| page.next_cursor.clone());
            match list_sessions(cursor, Vec::new()).await {
                Ok(next) => pages.update(|page| {
                    page.sessions.extend(next.sessions);
                    page.next_cursor = next.next_cursor;
                }),
                Err(failure) => problem.set(Some(failure.message)),
            }
        });
    };
    view! {
        <Show when=move || pages.with(|page| page.next_cursor.is_some())>
            <button r#type="button" class="button quiet" on:click=fetch.clone()>
                "Show older conversations"
            </button>
        </Show>
        {move || problem.get().map(|text| text_element("p", "problem", text))}
    }
}

/// Puts what changed since over what was fetched, and keeps the rows that the resolver shows: those
/// that lead to themselves. So the list cannot disagree with what a click opens.
fn current(fetched: &[Session], changes: &RowChanges, active: &[SessionId]) -> Vec<Session> {
    let mut rows = fetched.to_vec();
    merge(&mut rows, changes.changed.values().cloned().collect(), active);
    let nodes: Vec<_> = rows.iter().map(Node::from).collect();
    let shown = visible(&Lineages::new(&nodes, false));
    rows.retain(|row| {
        let place = shown.binary_search_by(|it| it.row.session_id.cmp(&row.session_id));
        place.is_ok() && !row.archived && !changes.removed.contains(&row.session_id)
    });
    rows
}

#[component]
fn Row(row: Memo<Session>) -> impl IntoView {
    let href = row.with_untracked(|row| address::of_session(&row.session_id));
    let title = move || row.with(|row| shown_title(&row.title).to_owned());
    let state = move || row.with(|row| state_words(row.status));
    let line = move || state().map_or_else(|| row.with(|row| row.preview.clone()), str::to_owned);
    let dot = move || row.with(|row| dot_class(row.status));
    let at = Signal::derive(move || row.with(|row| row.last_activity_at));
    let unread = move || row.with(|row| row.unread);
    let badge = move || unread().then(|| text_element("span", "badge", "New".to_owned()));
    view! {
        <li>
            <A href=href attr:class="row">
                <span class=dot aria-hidden="true"></span>
                <span class="row-title">{title}</span>
                <span class="row-time">
                    <Time at />
                </span>
                <span class="row-line">{line}</span>
                {badge}
            </A>
        </li>
    }
}

fn state_words(status: Status) -> Option<&'static str> {
    match status {
        Status::Starting => Some("Starting…"),
        Status::Streaming => Some("Working…"),
        Status::Waiting => Some("Waiting for you"),
        Status::Idle | Status::Error => None,
    }
}

fn dot_class(status: Status) -> &'static str {
    match status {
        Status::Starting | Status::Streaming => "dot working",
        Status::Waiting => "dot waiting",
        Status::Error => "dot error",
        Status::Idle => "dot",
    }
}
