//! What stands in place of a conversation that cannot be shown.

use leptos::prelude::*;
use leptos_router::components::A;

use super::address;
use super::page_title::PageTitle;
use crate::ui::state::AppState;
use crate::wire::error::{Failure, FailureCode};

/// Says that a conversation is gone, or that it could not be reached and is tried again.
#[component]
pub fn Unavailable(failure: Failure, retry: Callback<()>) -> impl IntoView {
    let gone = matches!(failure.code, FailureCode::SessionNotFound | FailureCode::InvalidId);
    if gone {
        let remembered = RwSignal::new(None);
        // What the browser remembers is known only once the page is alive.
        Effect::new(move || remembered.set(AppState::current().remembered_focus()));
        let offer = move || {
            remembered.get().map(|id| {
                view! { <A href=address::of_session(&id)>"Go to the conversation you had open"</A> }
            })
        };
        return view! {
            <PageTitle text="This conversation is gone" />
            <div class="notice-page">
                <h1>"This conversation is gone"</h1>
                <p>"It may have been deleted, or the link may be mistyped."</p>
                <A href="/" attr:class="button">
                    "All conversations"
                </A>
                {offer}
            </div>
        }
        .into_any();
    }
    on_return(retry);
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
pub fn on_return(retry: Callback<()>) {
    let returns = AppState::current().returns;
    Effect::new(move |before: Option<u32>| {
        let now = returns.get();
        if before.is_some_and(|before| before != now) {
            retry.run(());
        }
        now
    });
}
