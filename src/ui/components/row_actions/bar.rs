//! The bar at the end of the list: what to do with the chosen rows, or what was done and can be
//! taken back.

use leptos::html::Button;
use leptos::prelude::*;

use super::{acting, action_button, archive_offer};
use crate::domain::list::ListView;
use crate::ui::components::element::{element, text_element};
use crate::ui::overlay::Notice;
use crate::ui::platform;
use crate::ui::state::AppState;
use crate::wire::list::RowAction;

/// Stands in place of nothing until there is something to say.
#[component]
pub fn ListBar() -> impl IntoView {
    let app = AppState::current();
    let content = move || match (app.chosen.with(Option::is_some), app.notice.get()) {
        (true, _) => view! { <ChosenBar /> }.into_any(),
        (false, Some(notice)) => view! { <NoticeBar notice /> }.into_any(),
        (false, None) => ().into_any(),
    };
    view! {
        <div class="list-bar" role="status">
            {content}
        </div>
    }
}

/// Offers what can be done with the chosen rows.
#[component]
fn ChosenBar() -> impl IntoView {
    let app = AppState::current();
    let act = acting(app);
    let count = move || app.chosen.with(|chosen| chosen.as_ref().map_or(0, Vec::len));
    let words = move || [&count().to_string(), " chosen"].concat();
    let archived = app.view.get_untracked() == ListView::Archived;
    let pin = (!archived).then_some(("Pin", RowAction::Pin(true)));
    let offers = pin.into_iter().chain([archive_offer(archived), ("Delete", RowAction::Delete)]);
    let mut buttons: Vec<_> = offers
        .map(|(words, action)| {
            let act = act.clone();
            action_button(words, move || {
                let chosen = app.chosen.get_untracked().filter(|chosen| !chosen.is_empty());
                if let Some(chosen) = chosen {
                    act(chosen, action.clone());
                }
            })
        })
        .collect();
    buttons.push(action_button("Cancel", move || app.chosen.set(None)));
    view! {
        <p>{words}</p>
        {element("div", "bar-actions", buttons)}
    }
}

/// Says what was done, and takes it back where a person wants that.
#[component]
fn NoticeBar(notice: Notice) -> impl IntoView {
    let app = AppState::current();
    let act = acting(app);
    let undo_button = NodeRef::<Button>::new();
    // The row that had the focus may be gone; this is what a person is most likely to want next.
    Effect::new(move || {
        if let Some(button) = undo_button.get() {
            platform::focus(&button);
        }
    });
    let undo = notice.undo.map(|(ids, action)| {
        let undo = move |_| act(ids.clone(), action.clone());
        view! {
            <button r#type="button" class="button" node_ref=undo_button on:click=undo>
                "Undo"
            </button>
        }
    });
    view! {
        {text_element("p", "", notice.words)}
        <div class="bar-actions">
            {undo} {action_button("Close", move || app.notice.set(None))}
        </div>
    }
}
