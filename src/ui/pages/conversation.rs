//! One conversation: found by its address, rendered in full by the server, live in the browser.

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::components::A;
use leptos_router::hooks::{use_navigate, use_params_map};

use crate::api::sessions::open_session;
use crate::ui::components::icon::{BACK, Icon};
use crate::ui::components::page_title::PageTitle;
use crate::ui::components::session_list::shown_title;
use crate::ui::conversation::composer::Composer;
use crate::ui::conversation::state::Conversation;
use crate::ui::conversation::transcript::TranscriptView;
use crate::ui::platform;
use crate::ui::state::AppState;
use crate::wire::error::{Failure, FailureCode};
use crate::wire::rest::Transcript;

#[component]
pub fn ConversationPage() -> impl IntoView {
    let params = use_params_map();
    let id = Memo::new(move |_| params.with(|params| params.get("id").unwrap_or_default()));
    let fetched = Resource::new(move || id.get(), |id| open_session(id, None));
    view! {
        <Suspense fallback=|| view! { <p class="hint">"Opening…"</p> }>
            {move || Suspend::new(async move {
                match fetched.await {
                    Ok(transcript) => view! { <OpenConversation transcript /> }.into_any(),
                    Err(failure) => view! { <Unavailable failure /> }.into_any(),
                }
            })}
        </Suspense>
    }
}

#[component]
fn OpenConversation(transcript: Transcript) -> impl IntoView {
    let app = AppState::current();
    let conversation = Conversation::new(app, transcript);
    keep_in_view(app, &conversation);
    follow_compression(&conversation);
    let title = title_signal(app, &conversation);
    view! {
        <PageTitle text=title />
        <header class="page-head">
            <A href="/" attr:class="button quiet back" attr:aria-label="All conversations">
                <Icon path=BACK />
            </A>
            <h1 class="page-title">{title}</h1>
        </header>
        <TranscriptView conversation=conversation.clone() />
        <Composer conversation />
    }
}

/// Wants the conversation's events for as long as it is on the page.
fn keep_in_view(app: AppState, conversation: &Conversation) {
    let shown = conversation.clone();
    Effect::new(move || app.focus(shown.clone()));
    let left = conversation.session_id.clone();
    on_cleanup(move || app.blur(&left));
}

/// Moves on with the conversation when it is compressed, in place of the old address.
fn follow_compression(conversation: &Conversation) {
    let navigate = use_navigate();
    let continuation = conversation.continuation;
    Effect::new(move || {
        if let Some(id) = continuation.get() {
            let options = NavigateOptions { replace: true, ..NavigateOptions::default() };
            navigate(&["/session/", id.as_str()].concat(), options);
        }
    });
}

/// The title, as the list has it once it changed.
fn title_signal(app: AppState, conversation: &Conversation) -> Signal<String> {
    let fetched = conversation.title;
    let id = conversation.session_id.clone();
    Signal::derive(move || {
        let renamed = app.rows.with(|rows| rows.changed.get(&id).map(|row| row.title.clone()));
        shown_title(&renamed.unwrap_or_else(|| fetched.get())).to_owned()
    })
}

#[component]
fn Unavailable(failure: Failure) -> impl IntoView {
    let gone = matches!(failure.code, FailureCode::SessionNotFound | FailureCode::InvalidId);
    platform::set_status(if gone { 404 } else { 503 });
    let heading = if gone { "This conversation is gone" } else { "This did not work" };
    let message = if gone {
        "It may have been deleted, or the link may be mistyped.".to_owned()
    } else {
        failure.message
    };
    view! {
        <PageTitle text=heading />
        <div class="notice-page">
            <h1>{heading}</h1>
            <p>{message}</p>
            <A href="/" attr:class="button">
                "All conversations"
            </A>
        </div>
    }
}
