//! The one button that starts a conversation.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::reactive::spawn_local;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::use_navigate;

use super::address;
use super::element::text_element;
use super::icon::{Icon, PLUS};
use crate::api::sessions::new_session;

/// Starts a new conversation as the last one was and opens it; a plain form, so it works before and
/// without script.
#[component]
pub fn NewButton() -> impl IntoView {
    let problem = RwSignal::new(None::<String>);
    let navigate = use_navigate();
    let on_submit = move |event: SubmitEvent| {
        event.prevent_default();
        start(navigate.clone(), problem, None, None);
    };
    view! {
        <form class="new-conversation" method="post" action="/new" on:submit=on_submit>
            <button r#type="submit" class="button primary">
                <Icon path=PLUS />
                "New conversation"
            </button>
            <A href="/new" attr:class="button quiet">
                "Choose agent and folder"
            </A>
        </form>
        {move || problem.get().map(|text| text_element("p", "problem", text))}
    }
}

/// Makes a conversation and opens it, or says why not.
pub fn start(
    navigate: impl Fn(&str, NavigateOptions) + 'static,
    problem: RwSignal<Option<String>>,
    agent: Option<String>,
    workspace: Option<String>,
) {
    spawn_local(async move {
        match new_session(agent, workspace).await {
            Ok(session) => {
                problem.try_set(None);
                navigate(&address::of_session(&session.session_id), Default::default());
            }
            Err(failure) => {
                problem.try_set(Some(failure.message));
            }
        }
    });
}
