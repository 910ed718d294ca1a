//! What an address without a page says.

use leptos::prelude::*;
use leptos_router::components::A;

use crate::ui::components::page_title::PageTitle;
use crate::ui::platform;

#[component]
pub fn NotFoundPage() -> impl IntoView {
    platform::set_status(404);
    view! {
        <PageTitle text="Not found" />
        <div class="notice-page">
            <h1>"There is no such page"</h1>
            <p>"The address may be mistyped, or the page may have gone."</p>
            <A href="/" attr:class="button">
                "All conversations"
            </A>
        </div>
    }
}
