//! What stands before the page: a dialog of the browser's own, which keeps the focus inside, closes
//! with Escape and gives the focus back.

use leptos::ev::MouseEvent;
use leptos::html::Dialog;
use leptos::prelude::*;

use crate::ui::platform;
use crate::ui::state::AppState;

#[component]
pub fn Modal(
    label: &'static str,
    /// The dialog itself, for those that close it.
    dialog: NodeRef<Dialog>,
    children: Children,
) -> impl IntoView {
    let app = AppState::current();
    // The browser tells late: by then the dialog may be gone, or be another one in the same element.
    let on_close = move |_| {
        if dialog.get_untracked().is_some_and(|it| it.is_connected() && !it.open()) {
            app.overlay.set(None);
        }
    };
    Effect::new(move || {
        if let Some(dialog) = dialog.get() {
            platform::show_modal(&dialog);
        }
    });
    let on_click = move |event: MouseEvent| {
        if event.target() == event.current_target() {
            close(app, dialog);
        }
    };
    view! {
        <dialog
            class="modal"
            node_ref=dialog
            aria-label=label
            on:close=on_close
            on:click=on_click
        >
            <div class="modal-content">{children()}</div>
        </dialog>
    }
}

/// Closes a dialog; the focus goes back to where it was.
pub fn close(app: AppState, dialog: NodeRef<Dialog>) {
    if let Some(dialog) = dialog.get_untracked() {
        platform::close_modal(&dialog);
    }
    app.overlay.set(None);
}
