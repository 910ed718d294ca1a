//! One conversation: found by its address, rendered in full by the server, live in the browser.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::reactive::spawn_local;
use leptos_router::hooks::{use_location, use_navigate, use_params_map};

use crate::api::sessions::open_session;
use crate::domain::ids::MessageId;
use crate::domain::list::shown_title;
use crate::domain::session::Session;
use crate::ui::components::address::{self, replacing};
use crate::ui::components::page_head::PageHead;
use crate::ui::components::page_title::PageTitle;
use crate::ui::components::unavailable::Unavailable;
use crate::ui::conversation::agent::AgentSheet;
use crate::ui::conversation::composer::Composer;
use crate::ui::conversation::seek::seek;
use crate::ui::conversation::state::Conversation;
use crate::ui::conversation::timeline::TimelineSheet;
use crate::ui::conversation::transcript::TranscriptView;
use crate::ui::in_view::Focused;
use crate::ui::state::AppState;
use crate::wire::error::Failure;
use crate::wire::rest::Transcript;

#[component]
pub fn ConversationPage() -> impl IntoView {
    let params = use_params_map();
    let id = Memo::new(move |_| params.with(|params| params.get("id").unwrap_or_default()));
    let ahead = Ahead::default();
    let fetched = Resource::new(move || id.get(), move |id| fetch(ahead, id));
    view! {
        <Suspense fallback=|| view! { <p class="hint">"Opening…"</p> }>
            {move || Suspend::new(async move {
                match fetched.await {
                    Ok(transcript) if transcript.session.pre_compression_snapshot => {
                        lead_to(address::of_record(&transcript.session.session_id))
                    }
                    Ok(transcript) => {
                        let requested = id.get_untracked();
                        view! { <OpenConversation transcript requested ahead /> }.into_any()
                    }
                    Err(failure) => {
                        let retry = Callback::new(move |()| fetched.refetch());
                        view! { <Unavailable failure retry /> }.into_any()
                    }
                }
            })}
        </Suspense>
    }
}

/// The conversation that is fetched before its page is shown.
type Ahead = StoredValue<Option<Transcript>>;

async fn fetch(ahead: Ahead, id: String) -> Result<Transcript, Failure> {
    let fetched = ahead.try_update_value(Option::take).flatten();
    match fetched.filter(|transcript| transcript.session.session_id.as_str() == id) {
        Some(transcript) => Ok(transcript),
        None => open_session(id, None).await,
    }
}

#[component]
fn OpenConversation(transcript: Transcript, requested: String, ahead: Ahead) -> impl IntoView {
    let app = AppState::current();
    correct_address(&transcript.session, &requested);
    let row = transcript.session.clone();
    let conversation = Conversation::new(app, transcript);
    keep_in_view(app, &conversation, row);
    follow_compression(app, &conversation, ahead);
    seek(&conversation);
    let title = title_signal(app, &conversation);
    let session_id = conversation.session_id.clone();
    let agent_of = conversation.clone();
    view! {
        <PageTitle text=title />
        <PageHead title>
            <AgentSheet conversation=agent_of />
            <TimelineSheet session_id />
        </PageHead>
        <TranscriptView conversation=conversation.clone() />
        <Composer conversation />
    }
}

/// Puts the address of the row that is shown in place of the one that was asked for.
fn correct_address(shown: &Session, requested: &str) {
    if shown.session_id.as_str() != requested {
        let wanted = use_location().query.with_untracked(|query| query.get("message"));
        let message = wanted.and_then(|id| MessageId::parse(&id).ok());
        lead_to(address::of_message(&shown.session_id, message.as_ref()));
    }
}

/// Goes on to another address, in place of this one; nothing stands here meanwhile.
fn lead_to(address: String) -> AnyView {
    let navigate = use_navigate();
    Effect::new(move || navigate(&address, replacing()));
    ().into_any()
}

/// Wants the conversation's events for as long as it is on the page.
fn keep_in_view(app: AppState, conversation: &Conversation, row: Session) {
    let shown: Focused = Arc::new(conversation.clone());
    Effect::new(move || {
        app.show_rows(vec![row.clone()]);
        app.focus(shown.clone());
    });
    let left = conversation.session_id.clone();
    on_cleanup(move || app.blur(&left));
}

/// Moves on with the conversation when it is compressed, in place of the old address, and takes
/// along what was written and not sent. It is fetched first: whoever is writing goes on meanwhile.
fn follow_compression(app: AppState, conversation: &Conversation, ahead: Ahead) {
    let navigate = use_navigate();
    let conversation = conversation.clone();
    Effect::new(move || {
        let Some(id) = conversation.continuation.get() else { return };
        app.move_unsent(&conversation.session_id, &id);
        let navigate = navigate.clone();
        let left = conversation.session_id.clone();
        spawn_local(async move {
            // One that cannot be fetched says so on its own page.
            let fetched = open_session(id.to_string(), None).await.ok();
            if app.in_view.get_untracked() == Some(left) {
                ahead.set_value(fetched);
                app.hand_over_writing(&id);
                navigate(&address::of_session(&id), replacing());
            }
        });
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
