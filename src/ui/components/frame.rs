//! What stands around every page: the list at the side, the page beside it.

use leptos::prelude::*;
use leptos_router::hooks::use_location;

use super::session_list::SessionList;
use super::shortcuts::listen;
use super::strip::ConnectionStrip;
use crate::ui::parts::Overlays;

/// On a phone either the list or the page is seen, on a desktop both; the style sheet decides by
/// the address, so that the server's page is right before any script runs.
#[component]
pub fn Frame(children: Children) -> impl IntoView {
    let location = use_location();
    listen();
    let at_home = move || location.pathname.with(|path| path == "/");
    view! {
        <a class="skip" href="#page">
            "Skip to the conversation"
        </a>
        <div class="frame" class:at-home=at_home>
            <ConnectionStrip />
            <SessionList />
            <main id="page" class="page" tabindex="-1">
                {children()}
            </main>
        </div>
        <Overlays />
    }
}
