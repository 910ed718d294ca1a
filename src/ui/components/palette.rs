//! Finding and opening anything by its words: conversations, pages and actions.

mod entry;

use leptos::ev::KeyboardEvent;
use leptos::html::{Dialog, Input};
use leptos::prelude::*;
use leptos_router::hooks::use_navigate;

use super::element::text_element;
use super::modal::{Modal, close};
use super::search::{Search, snippet_view};
use crate::ui::overlay::Overlay;
use crate::ui::platform;
use crate::ui::state::AppState;
use entry::{Entry, Target};

#[component]
pub fn Palette() -> impl IntoView {
    let app = AppState::current();
    let dialog = NodeRef::<Dialog>::new();
    let field = NodeRef::<Input>::new();
    let search = Search::new();
    let chosen = RwSignal::new(0_usize);
    let entries = Memo::new(move |_| entry::entries(app, search));
    let open = opening(app, dialog);
    let opened = open.clone();
    let on_key = move |event: KeyboardEvent| {
        let count = entries.with_untracked(Vec::len).max(1);
        match event.key().as_str() {
            "ArrowDown" => chosen.update(|place| *place = (*place + 1) % count),
            "ArrowUp" => chosen.update(|place| *place = (*place + count - 1) % count),
            "Enter" => {
                let place = chosen.get_untracked();
                let target =
                    entries.with_untracked(|all| all.get(place).map(|it| it.target.clone()));
                if let Some(target) = target {
                    open(target);
                }
            }
            _ => return,
        }
        event.prevent_default();
        platform::show_choice(&event);
    };
    let on_input = move |_| {
        chosen.set(0);
        search.typed(field.get_untracked().map(|field| field.value()).unwrap_or_default());
    };
    let options = move || {
        let all = entries.get().into_iter().enumerate();
        all.map(|(place, entry)| option(place, entry, chosen, opened.clone())).collect::<Vec<_>>()
    };
    let active = move || entries.with(|all| !all.is_empty()).then(|| option_id(chosen.get()));
    view! {
        <Modal label="Find and open" dialog>
            <input
                class="palette-field"
                node_ref=field
                role="combobox"
                aria-expanded="true"
                aria-controls="palette-options"
                aria-autocomplete="list"
                aria-activedescendant=active
                aria-label="Find a conversation or something to do"
                placeholder="Find a conversation or something to do"
                autocomplete="off"
                spellcheck="false"
                autofocus=true
                on:input=on_input
                on:keydown=on_key
            />
            <ul class="palette" id="palette-options" role="listbox" aria-label="Found">
                {options}
            </ul>
            <p class="hint" role="status">
                {move || search.state_words()}
            </p>
        </Modal>
    }
}

fn option_id(place: usize) -> String {
    ["palette-option-", &place.to_string()].concat()
}

fn option(
    place: usize,
    entry: Entry,
    chosen: RwSignal<usize>,
    open: impl Fn(Target) + 'static,
) -> AnyView {
    let Entry { title, snippet, target } = entry;
    // Words of the title are marked in it; those of a message stand below it.
    let content = match (title.is_empty(), snippet.is_empty()) {
        (true, _) => vec![snippet_view("row-title", snippet)],
        (false, true) => vec![text_element("span", "row-title", title)],
        (false, false) => {
            vec![text_element("span", "row-title", title), snippet_view("row-line", snippet)]
        }
    };
    view! {
        <li
            id=option_id(place)
            role="option"
            aria-selected=move || if chosen.get() == place { "true" } else { "false" }
            on:click=move |_| open(target.clone())
        >
            {content}
        </li>
    }
    .into_any()
}

/// Gives what opens an entry and closes the palette.
fn opening(app: AppState, dialog: NodeRef<Dialog>) -> impl Fn(Target) + Clone + 'static {
    let navigate = use_navigate();
    move |target| {
        close(app, dialog);
        match target {
            Target::Address(address) => navigate(&address, Default::default()),
            Target::New => app.start_conversation(navigate.clone()),
            Target::Theme(theme) => platform::remember_theme(theme),
            Target::View(view) => {
                app.choose_view(view);
                navigate("/", Default::default());
            }
            Target::Shortcuts => app.open(Overlay::Shortcuts),
        }
    }
}
