//! The first page: on a phone the list itself, on a desktop the room beside it.

use leptos::prelude::*;
use leptos::reactive::spawn_local;
use leptos_router::hooks::{use_location, use_navigate};
use leptos_router::location::Location;

use crate::api::sessions::resolve_session;
use crate::domain::resolver::Outcome;
use crate::ui::components::address;
use crate::ui::components::page_title::PageTitle;
use crate::ui::state::AppState;

#[component]
pub fn HomePage() -> impl IntoView {
    restore_focus();
    view! {
        <PageTitle text="" />
        <div class="welcome">
            <h1>"Pick up a thread"</h1>
            <p>"Choose a conversation from the list, or start a new one."</p>
        </div>
    }
}

/// Goes back to the conversation that was in view at the last visit; who came here from another
/// page, or asks for a view of the list, wanted the list. What is remembered is advice: a conversation that is gone is forgotten
/// quietly, and a server that does not answer changes nothing.
fn restore_focus() {
    let app = AppState::current();
    let navigate = use_navigate();
    let Location { pathname, query, .. } = use_location();
    Effect::new(move || {
        // A link followed inside the app may name a conversation as an address bar does.
        let named = query.with(|query| query.get("session").or_else(|| query.get("session_id")));
        if let Some(id) = named.filter(|id| !id.is_empty()) {
            return navigate(&["/session/", &id].concat(), address::replacing());
        }
        if !app.is_first_page() {
            return app.remember_focus(None);
        }
        if query.with(|query| query.get("view").is_some()) {
            return;
        }
        let Some(remembered) = app.remembered_focus() else { return };
        let navigate = navigate.clone();
        spawn_local(async move {
            let Ok(resolution) = resolve_session(remembered.to_string()).await else { return };
            if pathname.try_get_untracked().is_none_or(|path| path != "/") {
                // The reader has gone elsewhere meanwhile, and this is no longer wanted.
                return;
            }
            match (resolution.outcome, resolution.session_id) {
                (Outcome::Open, Some(id)) => {
                    navigate(&address::of_session(&id), address::replacing());
                }
                (Outcome::Inspect, Some(id)) => {
                    navigate(&address::of_record(&id), address::replacing());
                }
                _ => app.remember_focus(None),
            }
        });
    });
}
