//! The files that go along with what is being written.

use leptos::ev::Event;
use leptos::prelude::*;

use super::state::Conversation;
use crate::domain::message::Attachment;
use crate::ui::components::icon::{CLIP, Icon};
use crate::ui::platform;

/// Files chosen for the next prompt, and how many are on their way to the server.
#[derive(Clone, Copy)]
pub struct Chosen {
    pub files: RwSignal<Vec<Attachment>>,
    uploading: RwSignal<usize>,
}

impl Chosen {
    pub fn new() -> Self {
        Self { files: RwSignal::default(), uploading: RwSignal::new(0) }
    }

    pub fn take(self) -> Vec<Attachment> {
        self.files.try_update(std::mem::take).unwrap_or_default()
    }

    pub fn is_empty(self) -> bool {
        self.files.with(Vec::is_empty)
    }

    pub fn is_uploading(self) -> bool {
        self.uploading.get() > 0
    }

    /// Takes the files that an input or a paste brings; tells whether there were any.
    pub fn take_from(self, event: &Event, conversation: &Conversation) -> bool {
        let problem = conversation.problem.clone();
        let count = platform::upload_files(event, move |uploaded| {
            self.uploading.try_update(|count| *count = count.saturating_sub(1));
            match uploaded {
                Ok(file) => {
                    self.files.try_update(|files| files.push(file));
                }
                Err(failure) => problem.set(Some(failure.message)),
            }
        });
        self.uploading.update(|uploading| *uploading += count);
        count > 0
    }

    fn remove(self, blob: &str) {
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
    view! {
        <ul class="chosen" aria-label="Attached files" hidden=move || {
            chosen.is_empty() && !chosen.is_uploading()
        }>
            <For
                each=move || chosen.files.get()
                key=|file| file.blob.clone()
                children=move |file| {
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
            <Show when=move || chosen.is_uploading()>
                <li>"Sending the file…"</li>
            </Show>
        </ul>
    }
}
