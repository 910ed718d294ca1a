//! The list of conversations.

mod row;
mod rows;
mod views;

use leptos::prelude::*;
use leptos_router::components::A;
use leptos_router::hooks::use_location;

use super::element::text_element;
use super::icon::{GEAR, Icon};
use super::new_button::NewButton;
use super::row_actions::ListBar;
use super::search::{Search, SearchBox, SearchResults};
use super::unavailable::on_return;
use crate::api::lists::overview;
use crate::domain::ids::SessionId;
use crate::domain::list::ListView;
use crate::ui::state::AppState;
use crate::wire::error::Failure;
use crate::wire::list::Overview;
use rows::Rows;
use views::Views;

#[component]
pub fn SessionList() -> impl IntoView {
    let app = AppState::current();
    let search = Search::new();
    let view = app.view;
    keep_in_place(app);
    let fetched = Resource::new(move || view.get(), overview);
    let retry = Callback::new(move |()| fetched.refetch());
    on_return(Callback::new(move |()| {
        if !app.has_list() {
            retry.run(());
        }
    }));
    let content = move |fetched| list_view(app, view.get_untracked(), fetched, retry);
    view! {
        <nav
            class="sidebar"
            tabindex="-1"
            aria-label="Conversations"
            node_ref=app.sight.scroller
            on:scroll=move |_| app.look_at_list()
        >
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
                <Views fetched />
                <Transition fallback=|| text_element("p", "hint", "Loading…".to_owned())>
                    {move || Suspend::new(async move { content(fetched.await) })}
                </Transition>
            </div>
            <ListBar />
        </nav>
    }
}

fn list_view(
    app: AppState,
    view: ListView,
    fetched: Result<Overview, Failure>,
    retry: Callback<()>,
) -> AnyView {
    match fetched {
        Ok(overview) => view! { <Rows open=app.open_list(view, overview) /> }.into_any(),
        Err(failure) => view! {
            {text_element("p", "problem", failure.message)}
            <button r#type="button" class="button quiet" on:click=move |_| retry.run(())>
                "Try again"
            </button>
        }
        .into_any(),
    }
}

/// Starts with the conversation that the address names, and brings the list back to where it was
/// when a phone returns to it.
fn keep_in_place(app: AppState) {
    let path = use_location().pathname;
    let named = path.with_untracked(|path| {
        path.strip_prefix("/session/").and_then(|id| SessionId::parse(id).ok())
    });
    app.in_view.set(named);
    app.view.set(views::asked_for());
    Effect::new(move || {
        if path.with(|path| path == "/") {
            app.sight.restore();
        }
    });
}
