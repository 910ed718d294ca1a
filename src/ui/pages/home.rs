//! The first page: on a phone the list itself, on a desktop the room beside it.

use leptos::prelude::*;

use crate::ui::components::page_title::PageTitle;

#[component]
pub fn HomePage() -> impl IntoView {
    view! {
        <PageTitle text="" />
        <div class="welcome">
            <h1>"Pick up a thread"</h1>
            <p>"Choose a conversation from the list, or start a new one."</p>
        </div>
    }
}
