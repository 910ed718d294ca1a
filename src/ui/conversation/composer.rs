//! Where a person writes.

use leptos::ev::{ClipboardEvent, KeyboardEvent, SubmitEvent};
use leptos::html::Textarea;
use leptos::prelude::*;

use super::attachments::{AttachButton, ChosenFiles};
use super::slash::{LIST, Slash, SlashList};
use super::state::Conversation;
use crate::ui::components::address;
use crate::ui::components::icon::{Icon, SEND, STOP};
use crate::ui::platform;
use crate::ui::unsent::Chosen;
use crate::wire::socket::Command;

#[component]
pub fn Composer(conversation: Conversation) -> impl IntoView {
    let field = NodeRef::<Textarea>::new();
    let draft = RwSignal::new(String::new());
    let chosen = conversation.chosen_files();
    keep_draft(&conversation, draft);
    go_on_writing(&conversation, field);
    let slash = Slash::new(&conversation, draft);
    let problem = conversation.problem.clone();
    let status = conversation.status.clone();
    take_back(&conversation, draft, chosen.clone());
    let sender = (conversation.clone(), chosen.clone());
    let send = move || {
        let (conversation, chosen) = &sender;
        let text = draft.get_untracked();
        let nothing = text.trim().is_empty() && chosen.files.with_untracked(Vec::is_empty);
        if nothing || untrack(|| chosen.is_uploading()) {
            return;
        }
        if conversation.send(text, chosen.files.get_untracked()) {
            draft.set(String::new());
            chosen.files.set(Vec::new());
        }
        if let Some(field) = field.get_untracked() {
            // The field is on the page, so it can take the focus.
            let _ = field.focus();
        }
    };
    let on_key = {
        let send = send.clone();
        move |event: KeyboardEvent| {
            let plain = !event.shift_key() && !event.is_composing();
            if plain && slash.take_key(&event.key()) {
                event.prevent_default();
            } else if event.key() == "Enter" && plain && !platform::is_touch() {
                event.prevent_default();
                send();
            } else if event.key() == "Escape" {
                // So that the next press leads back to the list.
                platform::leave_field(&event);
            }
        }
    };
    let on_submit = move |event: SubmitEvent| {
        event.prevent_default();
        send();
    };
    let paster = (conversation.clone(), chosen.clone());
    let on_paste = move |event: ClipboardEvent| {
        let (conversation, chosen) = &paster;
        if chosen.take_from(&event, conversation) {
            event.prevent_default();
        }
    };
    let waited_for = chosen.clone();
    let unready = move || {
        let nothing = draft.with(|text| text.trim().is_empty()) && waited_for.is_empty();
        nothing || waited_for.is_uploading()
    };
    // Until the page is alive the form works as the plain form that it is.
    let alive = RwSignal::new(false);
    Effect::new(move || alive.set(true));
    let action = address::of_prompt(&conversation.session_id, &platform::mint_id());
    let attacher = conversation.clone();
    let stop = move |_| conversation.command(Command::Cancel);
    view! {
        <form class="composer" method="post" action=action on:submit=on_submit>
            {move || problem.get().map(|text| view! { <p class="problem" role="alert">{text}</p> })}
            <ChosenFiles chosen=chosen.clone() />
            <SlashList slash />
            <div class="composer-field">
                <AttachButton chosen conversation=attacher />
                <textarea
                    node_ref=field
                    rows="1"
                    name="content"
                    aria-label="Message"
                    placeholder="Write a message"
                    aria-controls=move || slash.active().map(|_| LIST)
                    aria-activedescendant=move || slash.active()
                    prop:value=move || draft.get()
                    on:input:target=move |event| draft.set(event.target().value())
                    on:keydown=on_key
                    on:paste=on_paste
                ></textarea>
                <Show when=move || status.get().is_running()>
                    <button
                        r#type="button"
                        class="button round"
                        aria-label="Stop"
                        on:click=stop.clone()
                    >
                        <Icon path=STOP />
                    </button>
                </Show>
                <button
                    r#type="submit"
                    class="button round primary"
                    aria-label="Send"
                    disabled=move || alive.get() && unready()
                >
                    <Icon path=SEND />
                </button>
            </div>
        </form>
    }
}

/// Brings back what was written and not sent, once the page is alive, and keeps it from then on.
fn keep_draft(conversation: &Conversation, draft: RwSignal<String>) {
    let conversation = conversation.clone();
    Effect::new(move |restored: Option<()>| {
        let text = draft.get();
        if restored.is_none() && text.is_empty() {
            draft.set(conversation.draft());
        } else {
            conversation.keep_draft(text);
        }
    });
}

/// Gives the field to whoever was writing when the conversation moved here.
fn go_on_writing(conversation: &Conversation, field: NodeRef<Textarea>) {
    let conversation = conversation.clone();
    Effect::new(move || {
        if let Some(field) = field.get().filter(|_| conversation.takes_over_writing()) {
            platform::focus(&field);
        }
    });
}

/// Puts a prompt that could not be sent back where it was written, before anything newer.
fn take_back(conversation: &Conversation, draft: RwSignal<String>, chosen: Chosen) {
    let returned = conversation.returned.clone();
    Effect::new(move || {
        if let Some(turn) = returned.get() {
            returned.set(None);
            chosen.files.update(|files| files.extend(turn.attachments));
            draft.update(|draft| {
                if draft.is_empty() {
                    *draft = turn.content;
                } else {
                    *draft = [&turn.content, "\n\n", draft.as_str()].concat();
                }
            });
        }
    });
}
