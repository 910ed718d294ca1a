//! Keyboard shortcuts, and the sheet that lists them.

use leptos::ev::{KeyboardEvent, keydown};
use leptos::html::Dialog;
use leptos::prelude::*;
use leptos_router::hooks::{use_location, use_navigate};

use super::element::{element, text_element};
use super::modal::{Modal, close};
use crate::ui::overlay::Overlay;
use crate::ui::platform;
use crate::ui::state::AppState;

/// Every shortcut with what it does.
const SHORTCUTS: [(&str, &str); 8] = [
    ("Ctrl K or ⌘ K", "Find and open anything"),
    ("n", "New conversation"),
    ("j", "Next conversation in the list"),
    ("k", "Previous conversation in the list"),
    ("Enter", "Open it"),
    ("/", "Search"),
    ("Esc", "Back to the list"),
    ("?", "This list"),
];

/// Listens to the keyboard for as long as the app is there.
pub fn listen() {
    let app = AppState::current();
    let navigate = use_navigate();
    let path = use_location().pathname;
    let on_key = move |event: KeyboardEvent| {
        let with_control = event.ctrl_key() || event.meta_key();
        if with_control && event.key().eq_ignore_ascii_case("k") {
            event.prevent_default();
            return app.open(Overlay::Palette);
        }
        if with_control
            || event.alt_key()
            || event.default_prevented()
            || platform::is_typing(&event)
        {
            return;
        }
        let away = path.with_untracked(|path| path != "/");
        match event.key().as_str() {
            "n" => app.start_conversation(navigate.clone()),
            "j" => platform::step_row(true),
            "k" => platform::step_row(false),
            "/" => {
                if !platform::focus_search() {
                    navigate("/", Default::default());
                    platform::next_frame(|| {
                        platform::focus_search();
                    });
                }
            }
            "?" => app.open(Overlay::Shortcuts),
            "Escape" if app.chosen.with_untracked(Option::is_some) => app.chosen.set(None),
            "Escape" if away => navigate("/", Default::default()),
            _ => return,
        }
        event.prevent_default();
    };
    Effect::new(move || {
        let handle = window_event_listener(keydown, on_key.clone());
        on_cleanup(move || handle.remove());
    });
}

/// Lists the shortcuts.
#[component]
pub fn ShortcutsSheet() -> impl IntoView {
    let app = AppState::current();
    let dialog = NodeRef::<Dialog>::new();
    let line = |(keys, words): &(&str, &str)| {
        let parts = vec![
            text_element("kbd", "", (*keys).to_owned()),
            text_element("span", "", (*words).to_owned()),
        ];
        element("li", "", parts)
    };
    view! {
        <Modal label="Keyboard shortcuts" dialog>
            <h2 class="modal-title">"Keyboard shortcuts"</h2>
            {element("ul", "shortcuts", SHORTCUTS.iter().map(line).collect())}
            <button r#type="button" class="button" on:click=move |_| close(app, dialog)>
                "Close"
            </button>
        </Modal>
    }
}
