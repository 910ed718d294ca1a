//! The sheet that shows the parts of a conversation and its branches.

use leptos::prelude::*;
use leptos::reactive::spawn_local;
use leptos_router::components::A;

use crate::api::lineage::timeline;
use crate::domain::ids::SessionId;
use crate::domain::list::shown_title;
use crate::domain::session::Session;
use crate::ui::components::address;
use crate::ui::components::element::{element, text_element};
use crate::ui::components::sheet::Sheet;
use crate::ui::components::time::Time;
use crate::wire::rest::Timeline;

/// Opens under the head of the page; what it shows is fetched when it is opened.
#[component]
pub fn TimelineSheet(session_id: SessionId) -> impl IntoView {
    let shown = ArcRwSignal::new(None);
    let fetched = shown.clone();
    let current = session_id.clone();
    let fetch = Callback::new(move |()| {
        let (session_id, fetched) = (session_id.clone(), fetched.clone());
        spawn_local(async move { fetched.set(Some(timeline(session_id).await)) });
    });
    let content = move || match shown.get() {
        Some(Ok(timeline)) => sheet_view(timeline, &current),
        Some(Err(failure)) => text_element("p", "problem", failure.message),
        None => text_element("p", "hint", "Loading…".to_owned()),
    };
    view! {
        <Sheet name="History" on_open=fetch>
            {content}
        </Sheet>
    }
}

fn sheet_view(timeline: Timeline, current: &SessionId) -> AnyView {
    let parts = timeline.parts.iter().enumerate();
    let parts = parts.map(|(place, part)| part_view(place + 1, part, current)).collect();
    let mut content = vec![
        text_element("h2", "", "Parts of this conversation".to_owned()),
        element("ol", "", parts),
    ];
    if !timeline.forks.is_empty() {
        content.push(text_element("h2", "", "Branches".to_owned()));
        content.push(element("ul", "", timeline.forks.iter().map(branch_view).collect()));
    }
    element("div", "", content)
}

fn part_view(number: usize, part: &Session, current: &SessionId) -> AnyView {
    let mut name = ["Part ", &number.to_string()].concat();
    if part.session_id == *current {
        name.push_str(", this page");
    }
    entry_view(name, part)
}

fn branch_view(fork: &Session) -> AnyView {
    entry_view(shown_title(&fork.title).to_owned(), fork)
}

fn entry_view(name: String, row: &Session) -> AnyView {
    let address = address::of_row(row);
    let at = row.created_at;
    view! {
        <li>
            <A href=address attr:class="timeline-entry">
                {name}
                <Time at class="row-time" />
            </A>
        </li>
    }
    .into_any()
}
