//! The messages of a conversation, from the oldest shown to the newest.

use leptos::html::Div;
use leptos::prelude::*;

use super::markdown::Markdown;
use super::message::MessageView;
use super::state::Conversation;
use crate::domain::session::Status;
use crate::ui::components::icon::{DOWN, Icon};
use crate::ui::platform;
use crate::ui::state::AppState;

/// How far from the end still counts as being at the end, in pixels.
const NEAR_END: i32 = 48;

#[component]
pub fn TranscriptView(conversation: Conversation) -> impl IntoView {
    let scroller = NodeRef::<Div>::new();
    let at_end = RwSignal::from(conversation.at_end.clone());
    let unseen = RwSignal::new(false);
    mark_unseen(&conversation, at_end, unseen);
    // The scroller is laid out from its end, so its place is counted backwards from there.
    let on_scroll = move |_| {
        let near = scroller.with(|it| it.as_ref().is_some_and(|it| it.scroll_top() > -NEAR_END));
        at_end.set(near);
        if near {
            unseen.set(false);
        }
    };
    let to_end = move |_| {
        if let Some(element) = scroller.get_untracked() {
            platform::scroll_to_end(&element);
        }
        unseen.set(false);
    };
    // A screen reader says what is new once it is all there, not word by word.
    let status = conversation.status.clone();
    let busy = move || {
        let at_work = matches!(status.get(), Status::Starting | Status::Streaming);
        if at_work { "true" } else { "false" }
    };
    view! {
        <div class="scroller" node_ref=scroller on:scroll=on_scroll>
            <div class="transcript" role="log" aria-label="Messages" aria-live="polite" aria-busy=busy>
                <Earlier conversation=conversation.clone() />
                <Empty conversation=conversation.clone() />
                <Messages conversation=conversation.clone() />
                <Lost conversation=conversation.clone() />
                <Waiting conversation />
            </div>
        </div>
        <div class="to-end" class:shown=move || unseen.get()>
            <button r#type="button" class="button" on:click=to_end>
                "New messages"
                <Icon path=DOWN />
            </button>
        </div>
    }
}

/// Remembers that something came while the reader was elsewhere in the text.
fn mark_unseen(conversation: &Conversation, at_end: RwSignal<bool>, unseen: RwSignal<bool>) {
    let grown = conversation.grown.clone();
    Effect::new(move |earlier: Option<()>| {
        grown.track();
        if earlier.is_some() && !at_end.get_untracked() {
            unseen.set(true);
        }
    });
}

#[component]
fn Earlier(conversation: Conversation) -> impl IntoView {
    let has_earlier = conversation.has_earlier.clone();
    let fetch = move |_| conversation.fetch_earlier();
    view! {
        <Show when=move || has_earlier.get()>
            <button r#type="button" class="button quiet earlier" on:click=fetch.clone()>
                "Show earlier messages"
            </button>
        </Show>
    }
}

/// Says what to do in a conversation that has nothing in it yet.
#[component]
fn Empty(conversation: Conversation) -> impl IntoView {
    let outbox = AppState::current().outbox;
    let Conversation { entries, session_id, .. } = conversation;
    let empty = move || entries.with(Vec::is_empty) && outbox.of(&session_id).is_empty();
    view! {
        <Show when=empty>
            <p class="hint">"Say what you want done. It goes on when you close this page."</p>
        </Show>
    }
}

#[component]
fn Messages(conversation: Conversation) -> impl IntoView {
    let entries = conversation.entries.clone();
    view! {
        <For
            each=move || entries.get()
            key=|entry| entry.message_id.clone()
            children=move |entry| {
                view! { <MessageView conversation=conversation.clone() entry /> }
            }
        />
    }
}

/// Says that the agent stopped though nothing was asked of it.
#[component]
fn Lost(conversation: Conversation) -> impl IntoView {
    let lost = conversation.lost;
    view! { {move || lost.get().map(|lost| view! { <p class="lost">{lost}</p> })} }
}

/// Prompts on their way to the server.
#[component]
fn Waiting(conversation: Conversation) -> impl IntoView {
    let outbox = AppState::current().outbox;
    let session_id = conversation.session_id;
    view! {
        <For
            each=move || outbox.of(&session_id)
            key=|it| (it.turn.turn_id.clone(), it.sent)
            children=|it| {
                let state = if it.sent { "" } else { "Waiting to send" };
                view! {
                    <article class="message prompt unsent" aria-label="You, not sent yet">
                        <Markdown text=it.turn.content />
                        <p class="message-state">{state}</p>
                    </article>
                }
            }
        />
    }
}
