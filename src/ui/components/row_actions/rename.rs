//! Another name for a conversation.

use leptos::ev::SubmitEvent;
use leptos::html::Input;
use leptos::prelude::*;

use crate::domain::ids::SessionId;
use crate::ui::platform;
use crate::wire::list::RowAction;

#[component]
pub fn Rename(
    id: SessionId,
    title: String,
    done: Callback<(SessionId, RowAction)>,
) -> impl IntoView {
    let field = NodeRef::<Input>::new();
    Effect::new(move || {
        if let Some(field) = field.get() {
            platform::select_text(&field);
        }
    });
    let on_submit = move |event: SubmitEvent| {
        event.prevent_default();
        let typed = field.get_untracked().map(|field| field.value()).unwrap_or_default();
        done.run((id.clone(), RowAction::Rename(typed)));
    };
    view! {
        <form class="rename" on:submit=on_submit>
            <label>
                "Name" <input node_ref=field maxlength="200" autocomplete="off" value=title />
            </label>
            <button r#type="submit" class="button primary">
                "Rename"
            </button>
        </form>
    }
}
