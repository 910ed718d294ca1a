//! What a reader can do with a message.

use leptos::prelude::*;
use leptos::reactive::spawn_local;
use leptos_router::hooks::use_navigate;

use super::entry::Entry;
use super::state::Conversation;
use crate::api::lineage::fork_session;
use crate::ui::components::address;
use crate::ui::components::icon::{BRANCH, Icon};

/// A message and the conversation that it belongs to.
type Shared = StoredValue<(Conversation, Entry)>;

/// Sends the prompt of an unfinished answer once more.
#[component]
pub fn RetryButton(shared: Shared) -> impl IntoView {
    let retry = move |_| {
        shared.with_value(|(conversation, entry)| {
            let turn_id = conversation.with_message(entry, |message| message.turn_id.clone());
            if let Some(turn_id) = turn_id.flatten() {
                conversation.retry(&turn_id);
            }
        });
    };
    view! {
        <button r#type="button" class="button quiet retry" on:click=retry>
            "Retry"
        </button>
    }
}

/// Goes on from an answer in a conversation of its own.
#[component]
pub fn BranchButton(shared: Shared) -> impl IntoView {
    let navigate = use_navigate();
    let branch = move |_| {
        let (conversation, entry) = shared.get_value();
        let navigate = navigate.clone();
        spawn_local(async move {
            match fork_session(conversation.session_id.clone(), entry.message_id).await {
                Ok(fork) => {
                    navigate(&address::of_session(&fork.session_id), Default::default());
                }
                Err(failure) => conversation.problem.set(Some(failure.message)),
            }
        });
    };
    view! {
        <button
            r#type="button"
            class="button quiet branch"
            aria-label="Branch from here"
            on:click=branch
        >
            <Icon path=BRANCH />
        </button>
    }
}

/// Lets a prompt that waits its turn be taken back.
#[component]
pub fn QueuedControls(shared: Shared) -> impl IntoView {
    let withdraw = move |edit: bool| {
        shared.with_value(|(conversation, entry)| {
            let turn_id = untrack(|| conversation.with_message(entry, |it| it.turn_id.clone()));
            if let Some(turn_id) = turn_id.flatten() {
                conversation.withdraw(&turn_id, edit);
            }
        });
    };
    view! {
        <div class="queued">
            <p class="message-state">"Queued"</p>
            <button r#type="button" class="button quiet" on:click=move |_| withdraw(true)>
                "Edit"
            </button>
            <button r#type="button" class="button quiet" on:click=move |_| withdraw(false)>
                "Remove"
            </button>
        </div>
    }
}
