//! The quiet strip that says when the server is out of reach.

use leptos::prelude::*;

use crate::ui::state::{AppState, LinkState};

#[component]
pub fn ConnectionStrip() -> impl IntoView {
    let state = AppState::current();
    let broken = move || state.link.get() == LinkState::Broken;
    view! {
        <div class="strip" role="status" class:shown=broken>
            {move || broken().then(|| words(state.outbox.waiting()))}
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
