//! What can be done with rows of the list: with one, and with several that were chosen.

mod bar;
mod rename;

use leptos::html::Dialog;
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;

use super::element::{element, text_element};
use super::modal::{Modal, close};
use crate::domain::ids::SessionId;
use crate::domain::list::shown_title;
use crate::ui::state::AppState;
use crate::wire::list::RowAction;
pub use bar::ListBar;
use rename::Rename;

/// What a button is called, and what it does.
type Offer = (&'static str, RowAction);

/// Offers what can be done with one row.
#[component]
pub fn RowSheet(id: SessionId) -> impl IntoView {
    let app = AppState::current();
    let dialog = NodeRef::<Dialog>::new();
    let renaming = RwSignal::new(false);
    let row = app.row(&id);
    let title = row.as_ref().map(|row| row.title.clone()).unwrap_or_default();
    let act = acting(app);
    let done = Callback::new(move |(id, action)| {
        close(app, dialog);
        act(vec![id], action);
    });
    let name = shown_title(&title).to_owned();
    let content = move || {
        let (id, title) = (id.clone(), title.clone());
        if renaming.get() {
            return view! { <Rename id title done /> }.into_any();
        }
        let offers = row.iter().flat_map(|row| {
            [pin_offer(row.pinned), archive_offer(row.archived), ("Delete", RowAction::Delete)]
        });
        let mut buttons = vec![action_button("Rename", move || renaming.set(true))];
        buttons.extend(offers.map(|(words, action)| {
            let id = id.clone();
            action_button(words, move || done.run((id.clone(), action.clone())))
        }));
        buttons.push(action_button("Choose several", move || {
            close(app, dialog);
            app.choose_row(&id);
        }));
        element("div", "actions", buttons)
    };
    view! {
        <Modal label="What to do with this conversation" dialog>
            {text_element("h2", "modal-title", name)}
            {content}
        </Modal>
    }
}

fn pin_offer(pinned: bool) -> Offer {
    if pinned { ("Unpin", RowAction::Pin(false)) } else { ("Pin", RowAction::Pin(true)) }
}

fn archive_offer(archived: bool) -> Offer {
    if archived {
        ("Take out of the archive", RowAction::Archive(false))
    } else {
        ("Archive", RowAction::Archive(true))
    }
}

fn action_button(words: &'static str, act: impl Fn() + 'static) -> AnyView {
    view! {
        <button r#type="button" class="button quiet" on:click=move |_| act()>
            {words}
        </button>
    }
    .into_any()
}

/// Gives what does something with rows, and leads to the list when the conversation in view is gone.
fn acting(app: AppState) -> impl Fn(Vec<SessionId>, RowAction) + Clone + Send + Sync + 'static {
    let navigate = use_navigate();
    move |ids, action| {
        let navigate = navigate.clone();
        app.act(ids, action, move || navigate("/", Default::default()));
    }
}
