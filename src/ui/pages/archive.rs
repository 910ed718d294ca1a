//! An earlier part of a conversation, as a record: it can be read, and leads to the conversation.

use leptos::prelude::*;
use leptos_router::components::A;
use leptos_router::hooks::{use_navigate, use_params_map};

use crate::api::sessions::inspect_session;
use crate::domain::list::shown_title;
use crate::ui::components::address;
use crate::ui::components::page_head::PageHead;
use crate::ui::components::page_title::PageTitle;
use crate::ui::components::unavailable::Unavailable;
use crate::ui::conversation::state::Conversation;
use crate::ui::conversation::transcript::TranscriptView;
use crate::ui::state::AppState;
use crate::wire::rest::Transcript;

#[component]
pub fn ArchivePage() -> impl IntoView {
    let params = use_params_map();
    let id = Memo::new(move |_| params.with(|params| params.get("id").unwrap_or_default()));
    let fetched = Resource::new(move || id.get(), inspect_session);
    view! {
        <Suspense fallback=|| view! { <p class="hint">"Opening…"</p> }>
            {move || Suspend::new(async move {
                match fetched.await {
                    Ok(transcript) => view! { <Record transcript /> }.into_any(),
                    Err(failure) => {
                        let retry = Callback::new(move |()| fetched.refetch());
                        view! { <Unavailable failure retry /> }.into_any()
                    }
                }
            })}
        </Suspense>
    }
}

#[component]
fn Record(transcript: Transcript) -> impl IntoView {
    let session = transcript.session.clone();
    let title = shown_title(&session.title).to_owned();
    let live = session.canonical_visible_session_id.filter(|live| *live != session.session_id);
    if !session.pre_compression_snapshot {
        leave_for(address::of_session(&session.session_id));
    }
    let way_back = live.map(|live| {
        view! {
            <A href=address::of_session(&live) attr:class="button">
                "Go to the conversation"
            </A>
        }
    });
    view! {
        <PageTitle text=title.clone() />
        <PageHead title />
        <aside class="banner" aria-label="About this page">
            <p>"This is an earlier part of a conversation. It can be read, not continued."</p>
            {way_back}
        </aside>
        <TranscriptView conversation=Conversation::new(AppState::current(), transcript) />
    }
}

/// Leads to where a conversation that still goes on belongs.
fn leave_for(address: String) {
    let navigate = use_navigate();
    Effect::new(move || navigate(&address, address::replacing()));
}
