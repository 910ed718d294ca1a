//! The one button that starts a conversation.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::reactive::spawn_local;
use leptos_router::hooks::use_navigate;

use super::address;
use super::element::text_element;
use super::icon::{Icon, PLUS};
use crate::api::sessions::new_session;

/// Starts a new conversation and opens it; a plain form, so it works before and without script.
#[component]
pub fn NewButton() -> impl IntoView {
    let problem = RwSignal::new(None::<String>);
    let navigate = use_navigate();
    let on_submit = move |event: SubmitEvent| {
        event.prevent_default();
        let navigate = navigate.clone();
        spawn_local(async move {
            match new_session().await {
                Ok(session) => {
                    problem.set(None);
                    navigate(&address::of_session(&session.session_id), Default::default());
                }
                Err(failure) => problem.set(Some(failure.message)),
            }
        });
    };
    view! {
        <form class="new-conversation" method="post" action="/new" on:submit=on_submit>
            <button r#type="submit" class="button primary">
                <Icon path=PLUS />
                "New conversation"
            </button>
        </form>
        {move || problem.get().map(|text| text_element("p", "problem", text))}
    }
}
