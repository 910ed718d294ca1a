//! The agent's own commands, offered while one is being typed.

use leptos::prelude::*;
use leptos::reactive::spawn_local;

use super::state::Conversation;
use crate::api::agents::agent_facts;
use crate::ui::components::element::text_element;
use crate::wire::rest::SlashCommand;

/// How many commands are offered at once.
const OFFERED: usize = 8;

pub const LIST: &str = "commands";

#[derive(Clone, Copy)]
pub struct Slash {
    draft: RwSignal<String>,
    commands: RwSignal<Vec<SlashCommand>>,
    place: RwSignal<usize>,
    dismissed: RwSignal<bool>,
}

impl Slash {
    /// Asks for the commands when one is begun.
    pub fn new(conversation: &Conversation, draft: RwSignal<String>) -> Self {
        let slash = Self {
            draft,
            commands: RwSignal::new(Vec::new()),
            place: RwSignal::new(0),
            dismissed: RwSignal::new(false),
        };
        let session_id = conversation.session_id.clone();
        Effect::new(move |before: Option<bool>| {
            let begun = draft.with(|draft| draft.starts_with('/'));
            slash.place.set(0);
            if begun && before != Some(true) {
                slash.dismissed.set(false);
                let session_id = session_id.clone();
                spawn_local(async move {
                    if let Ok(facts) = agent_facts(session_id).await {
                        slash.commands.try_set(facts.commands);
                    }
                });
            }
            begun
        });
        slash
    }

    /// Lists the commands that begin with what was typed.
    fn offered(self) -> Vec<SlashCommand> {
        let draft = self.draft.get();
        let Some(typed) = draft.strip_prefix('/').filter(|_| !self.dismissed.get()) else {
            return Vec::new();
        };
        self.commands.with(|commands| {
            let fits = |it: &&SlashCommand| it.name.starts_with(typed) && it.name != typed;
            commands.iter().filter(fits).take(OFFERED).cloned().collect()
        })
    }

    /// Names the entry that a key would take, while there is one.
    pub fn active(self) -> Option<String> {
        let offered = self.offered().len();
        (offered > 0).then(|| entry_id(self.place.get().min(offered - 1)))
    }

    /// Takes a key that is meant for the list.
    pub fn take_key(self, key: &str) -> bool {
        let offered = untrack(|| self.offered());
        let last = offered.len().saturating_sub(1);
        let place = self.place.get_untracked().min(last);
        match key {
            _ if offered.is_empty() => return false,
            "ArrowDown" => self.place.set(if place == last { 0 } else { place + 1 }),
            "ArrowUp" => self.place.set(if place == 0 { last } else { place - 1 }),
            "Enter" | "Tab" => self.choose(place),
            "Escape" => self.dismissed.set(true),
            _ => return false,
        }
        true
    }

    fn choose(self, place: usize) {
        if let Some(command) = untrack(|| self.offered()).get(place) {
            self.draft.set(["/", &command.name, " "].concat());
        }
    }
}

fn entry_id(place: usize) -> String {
    [LIST, "-", &place.to_string()].concat()
}

/// Shows the commands above the field; the focus stays in the field.
#[component]
pub fn SlashList(slash: Slash) -> impl IntoView {
    let entries = move || {
        let active = slash.active();
        let entries = slash.offered().into_iter().enumerate().map(|(place, command)| {
            let id = entry_id(place);
            let selected = active.as_ref() == Some(&id);
            view! {
                <li
                    id=id
                    role="option"
                    aria-selected=selected.to_string()
                    on:mousedown=|event| event.prevent_default()
                    on:click=move |_| slash.choose(place)
                >
                    {text_element("b", "", ["/", &command.name].concat())}
                    {text_element("span", "hint", command.description)}
                </li>
            }
        });
        entries.collect_view()
    };
    view! {
        <ul
            id=LIST
            class="slash"
            role="listbox"
            aria-label="Commands"
            hidden=move || slash.active().is_none()
        >
            {entries}
        </ul>
    }
}
