//! One conversation in the list.

use std::sync::Arc;

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use crate::domain::ids::SessionId;
use crate::domain::list::shown_title;
use crate::domain::session::{Milestone, Session, Status};
use crate::ui::components::address;
use crate::ui::components::element::text_element;
use crate::ui::components::time::time;
use crate::ui::overlay::Overlay;
use crate::ui::state::AppState;

#[component]
pub fn Row(
    row: Memo<Arc<Session>>,
    /// The address of the page.
    path: Memo<String>,
    /// Whether several rows are being chosen.
    choosing: Memo<bool>,
) -> impl IntoView {
    let app = AppState::current();
    let id = move || row.with_untracked(|row| row.session_id.clone());
    // While several are chosen, a row is one to choose and not a way to somewhere.
    let on_click = move |event: MouseEvent| {
        if app.chosen.with_untracked(Option::is_some) {
            event.prevent_default();
            app.choose_row(&id());
        }
    };
    // One reaction writes the whole row: on a phone, a reaction for each word of it costs a reader
    // who scrolls several times as much. For the same reason the link is not one of the router's.
    move || {
        let shown = row.get();
        let href = address::of_row(&shown);
        let target = href.clone();
        let is_current = move || path.with(|path| *path == target).then_some("page");
        let end = match choosing.get() {
            true => choice_box(app, &shown),
            false => more_button(app, &shown.session_id),
        };
        view! {
            <li>
                <a
                    href=href
                    class="row"
                    aria-current=is_current
                    on:click=on_click
                >
                    <span class=dot_class(&shown)></span>
                    <span class="row-title" id=title_id(&shown.session_id)>
                        {shown_title(&shown.title).to_owned()}
                    </span>
                    {time(shown.last_activity_at, app.alive.get(), Some("row-time"))}
                    <span class="row-line">{line(&shown)}</span>
                    {badge_word(&shown)
                        .map(|word| text_element("span", "badge", word.to_owned()))}
                </a>
                {end}
            </li>
        }
    }
}

/// Opens what can be done with the row.
fn more_button(app: AppState, id: &SessionId) -> AnyView {
    let described_by = title_id(id);
    let id = id.clone();
    let open = move |_| app.open(Overlay::Row(id.clone()));
    view! {
        <button
            r#type="button"
            class="button quiet more"
            aria-haspopup="dialog"
            aria-label="More"
            aria-describedby=described_by
            on:click=open
        ></button>
    }
    .into_any()
}

fn title_id(id: &SessionId) -> String {
    ["title-", id.as_str()].concat()
}

/// Chooses the row beside others.
fn choice_box(app: AppState, row: &Session) -> AnyView {
    let label = ["Choose ", shown_title(&row.title)].concat();
    let id = row.session_id.clone();
    let chosen = id.clone();
    let is_chosen = move || app.chosen.with(|it| it.as_ref().is_some_and(|it| it.contains(&id)));
    view! {
        <label class="button quiet more">
            <input
                r#type="checkbox"
                aria-label=label
                prop:checked=is_chosen
                on:change=move |_| app.choose_row(&chosen)
            />
        </label>
    }
    .into_any()
}

/// What stands below the title: how things are, or else what was last said.
fn line(row: &Session) -> String {
    state_words(row).map_or_else(|| row.preview.clone(), str::to_owned)
}

fn state_words(row: &Session) -> Option<&'static str> {
    match row.status {
        Status::Starting => Some("Starting…"),
        Status::Streaming => Some("Working…"),
        Status::Waiting => Some("Waiting for you"),
        Status::Idle | Status::Error if row.pre_compression_snapshot => {
            Some("Earlier part of a conversation")
        }
        Status::Idle | Status::Error if row.milestone == Some(Milestone::RpcProcessCrashed) => {
            Some("The agent stopped")
        }
        Status::Idle | Status::Error => None,
    }
}

fn badge_word(row: &Session) -> Option<&'static str> {
    match row {
        Session { unread: true, .. } => Some("New"),
        Session { pinned: true, .. } => Some("Pinned"),
        _ => None,
    }
}

fn dot_class(row: &Session) -> &'static str {
    match row.status {
        Status::Starting | Status::Streaming => "dot working",
        Status::Waiting => "dot waiting",
        Status::Error => "dot error",
        Status::Idle if row.milestone == Some(Milestone::RpcProcessCrashed) => "dot error",
        Status::Idle => "dot",
    }
}
