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

/// Moves on with the conversation when it is compressed, in place of the old address, and takes
/// along what was written and not sent.
fn follow_compression(conversation: &Conversation) {
    let navigate = use_navigate();
    let conversation = conversation.clone();
    Effect::new(move || {
        if let Some(id) = conversation.continuation.get() {
            conversation.move_draft(&id);
            let options = NavigateOptions { replace: true, ..NavigateOptions::default() };
            navigate(&["/session/", id.as_str()].concat(), options);
        }
    });
}

/// The title, as the list has it once it changed.
fn title_signal(app: AppState, conversation: &Conversation) -> Signal<String> {
    let fetched = conversation.title.clone();
    let id = conversation.session_id.clone();
    Signal::derive(move || {
        let renamed = app.rows.with(|rows| rows.changed.get(&id).map(|row| row.title.clone()));
        shown_title(&renamed.unwrap_or_else(|| fetched.get())).to_owned()
    })
}

#[component]
fn Unavailable(failure: Failure, retry: Callback<()>) -> impl IntoView {
    let gone = matches!(failure.code, FailureCode::SessionNotFound | FailureCode::InvalidId);
    if gone {
        return view! {
            <PageTitle text="This conversation is gone" />
            <div class="notice-page">
                <h1>"This conversation is gone"</h1>
                <p>"It may have been deleted, or the link may be mistyped."</p>
                <A href="/" attr:class="button">
                    "All conversations"
                </A>
            </div>
        }
        .into_any();
    }
    retry_on_return(retry);
    view! {
        <PageTitle text="Not reachable" />
        <div class="notice-page">
            <h1>"This conversation could not be opened"</h1>
            <p>{failure.message}</p>
            <button r#type="button" class="button" on:click=move |_| retry.run(())>
                "Try again"
            </button>
        </div>
    }
    .into_any()
}

/// Tries again by itself once the server is back.
fn retry_on_return(retry: Callback<()>) {
    let returns = AppState::current().returns;
    Effect::new(move |before: Option<u32>| {
        let now = returns.get();
        if before.is_some_and(|before| before != now) {
            retry.run(());
        }
        now
    });
}
