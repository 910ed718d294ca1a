//! The quiet strip that says when the server is out of reach, or wants to know who this is.

use leptos::prelude::*;
use leptos::reactive::spawn_local;
use leptos_router::hooks::use_location;

use crate::api::sessions::resolve_session;
use crate::ui::state::{AppState, LinkState};
use crate::wire::error::FailureCode;

#[component]
pub fn ConnectionStrip() -> impl IntoView {
    let state = AppState::current();
    let broken = move || state.link.get() == LinkState::Broken;
    let signed_out = RwSignal::new(false);
    // A socket does not say why it was refused; any function does.
    Effect::new(move || {
        if broken() {
            spawn_local(async move {
                let refused = resolve_session(String::new()).await.err();
                signed_out.set(refused.is_some_and(|it| it.code == FailureCode::SignedOut));
            });
        }
    });
    let path = use_location().pathname;
    let text = move || match broken() {
        false => ().into_any(),
        true if signed_out.get() => {
            let address = ["/login?next=", &path.get()].concat();
            view! {
                "You are signed out. What you wrote is kept. "
                <a rel="external" href=address>
                    "Sign in again"
                </a>
            }
            .into_any()
        }
        true => words(state.outbox.waiting()).into_any(),
    };
    view! {
        <div class="strip" role="status" class:shown=broken>
            {text}
        </div>
    }
}

fn words(waiting: usize) -> String {
    let offline = "Offline. Trying to reach the server again…";
    match waiting {
        0 => offline.to_owned(),
        1 => [offline, " One message waits to be sent."].concat(),
        more => [offline, " ", &more.to_string(), " messages wait to be sent."].concat(),
    }
}
