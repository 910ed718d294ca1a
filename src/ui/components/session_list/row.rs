//! One conversation in the list.

use std::sync::Arc;

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use crate::domain::ids::SessionId;
use crate::domain::list::shown_title;
use crate::domain::session::{Milestone, Session, Status};
use crate::ui::components::address;
use crate::ui::components::element::text_element;
use crate::ui::components::icon::{Icon, MORE};
use crate::ui::components::time::Time;
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
    let href = move || row.with(|row| address::of_row(row));
    // A link of the router would do the same at several times the cost, for each row anew.
    let is_current = move || path.with(|path| *path == href()).then_some("page");
    let title = move || row.with(|row| shown_title(&row.title).to_owned());
    let line =
        move || row.with(|row| state_words(row).map_or_else(|| row.preview.clone(), str::to_owned));
    let dot = move || row.with(|row| dot_class(row));
    let at = Signal::derive(move || row.with(|row| row.last_activity_at));
    let badge = move || {
        let word = row.with(|row| badge_word(row));
        word.map(|word| text_element("span", "badge", word.to_owned()))
    };
    let id = move || row.with_untracked(|row| row.session_id.clone());
    // While several are chosen, a row is one to choose and not a way to somewhere.
    let on_click = move |event: MouseEvent| {
        if app.chosen.with_untracked(Option::is_some) {
            event.prevent_default();
            app.choose_row(&id());
        }
    };
    view! {
        <li>
            <a href=href class="row" aria-current=is_current on:click=on_click>
                <span class=dot aria-hidden="true"></span>
                <span class="row-title" id=title_id(&id())>
                    {title}
                </span>
                <span class="row-time">
                    <Time at />
                </span>
                <span class="row-line">{line}</span>
                {badge}
            </a>
            {move || match choosing.get() {
                true => choice_box(app, id(), title),
                false => more_button(app, id()),
            }}
        </li>
    }
}

/// Opens what can be done with the row.
fn more_button(app: AppState, id: SessionId) -> AnyView {
    let described_by = title_id(&id);
    let open = move |_| app.open(Overlay::Row(id.clone()));
    view! {
        <button
            r#type="button"
            class="button quiet more"
            aria-haspopup="dialog"
            aria-label="More"
            aria-describedby=described_by
            on:click=open
        >
            <Icon path=MORE />
        </button>
    }
    .into_any()
}

fn title_id(id: &SessionId) -> String {
    ["title-", id.as_str()].concat()
}

/// Chooses the row beside others.
fn choice_box(
    app: AppState,
    id: SessionId,
    title: impl Fn() -> String + Send + Sync + 'static,
) -> AnyView {
    let label = move || ["Choose ", &title()].concat();
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
