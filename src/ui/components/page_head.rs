//! The head of a page: the way back to the list on a phone, and the title.

use leptos::prelude::*;
use leptos_router::components::A;

use super::icon::{BACK, Icon};

#[component]
pub fn PageHead(
    #[prop(into)] title: Signal<String>,
    /// What stands at the end of the head.
    #[prop(optional)]
    children: Option<Children>,
) -> impl IntoView {
    view! {
        <header class="page-head">
            <A href="/" attr:class="button quiet back" attr:aria-label="All conversations">
                <Icon path=BACK />
            </A>
            <h1 class="page-title">{title}</h1>
            {children.map(|children| children())}
        </header>
    }
}
