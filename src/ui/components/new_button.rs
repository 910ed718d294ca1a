//! The one button that starts a conversation.

use leptos::form::ActionForm;
use leptos::prelude::*;

use super::icon::{Icon, PLUS};
use crate::api::sessions::NewSession;

/// Starts a new conversation and opens it; a plain form, so it works before and without script.
#[component]
pub fn NewButton() -> impl IntoView {
    let create = ServerAction::<NewSession>::new();
    let problem = move || match create.value().get() {
        Some(Err(failure)) => Some(view! { <p class="problem" role="alert">{failure.message}</p> }),
        _ => None,
    };
    view! {
        <ActionForm action=create attr:class="new-conversation">
            <button r#type="submit" class="button primary" disabled=move || create.pending().get()>
                <Icon path=PLUS />
                "New conversation"
            </button>
        </ActionForm>
        {problem}
    }
}
