//! The files that go along with what is being written.

use leptos::ev::Event;
use leptos::prelude::*;

use super::state::Conversation;
use crate::ui::components::icon::{CLIP, Icon};
use crate::ui::platform;
use crate::ui::unsent::Chosen;

impl Chosen {
    /// Takes the files that an input or a paste brings; tells whether there were any.
    pub fn take_from(&self, event: &Event, conversation: &Conversation) -> bool {
        let problem = conversation.problem.clone();
        let chosen = self.clone();
        let count = platform::upload_files(event, move |uploaded| {
            chosen.uploading.update(|count| *count = count.saturating_sub(1));
            match uploaded {
                Ok(file) => chosen.files.update(|files| files.push(file)),
                Err(failure) => problem.set(Some(failure.message)),
            }
        });
        self.uploading.update(|uploading| *uploading += count);
        count > 0
    }

    fn remove(&self, blob: &str) {
        self.files.update(|files| files.retain(|file| file.blob.as_str() != blob));
    }
}

#[component]
pub fn AttachButton(chosen: Chosen, conversation: Conversation) -> impl IntoView {
    let on_change = move |event: Event| {
        chosen.take_from(&event, &conversation);
    };
    view! {
        <label class="button round quiet attach">
            <Icon path=CLIP />
            <span class="visually-hidden">"Attach files"</span>
            <input class="visually-hidden" r#type="file" multiple on:change=on_change />
        </label>
    }
}

#[component]
pub fn ChosenFiles(chosen: Chosen) -> impl IntoView {
    let files = chosen.files.clone();
    let (hidden, uploading) = (chosen.clone(), chosen.clone());
    view! {
        <ul class="chosen" aria-label="Attached files" hidden=move || {
            hidden.is_empty() && !hidden.is_uploading()
        }>
            <For
                each=move || files.get()
                key=|file| file.blob.clone()
                children=move |file| {
                    let chosen = chosen.clone();
                    let blob = file.blob.to_string();
                    let label = ["Remove ", &file.name].concat();
                    view! {
                        <li>
                            <span>{file.name}</span>
                            <button
                                r#type="button"
                                class="button quiet"
                                aria-label=label
                                on:click=move |_| chosen.remove(&blob)
                            >
                                "×"
                            </button>
                        </li>
                    }
                }
            />
            <Show when=move || uploading.is_uploading()>
                <li>"Sending the file…"</li>
            </Show>
        </ul>
    }
}
