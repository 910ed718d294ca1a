//! The quiet strip that says when the server is out of reach.

use leptos::prelude::*;

use crate::ui::state::{AppState, LinkState};

#[component]
pub fn ConnectionStrip() -> impl IntoView {
    let state = AppState::current();
    let broken = move || state.link.get() == LinkState::Broken;
    view! {
        <div class="strip" role="status" class:shown=broken>
            {move || broken().then_some("Offline. Trying to reach the server again…")}
        </div>
    }
}
