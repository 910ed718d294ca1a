//! The sheet with what can be chosen about a conversation's agent.

use leptos::prelude::*;
use leptos::reactive::spawn_local;

use super::state::Conversation;
use crate::api::agents::agent_facts;
use crate::ui::components::element::text_element;
use crate::ui::components::sheet::Sheet;
use crate::wire::rest::AgentOption;
use crate::wire::socket::Command;

/// Opens under the head of the page; what it shows is fetched when it is opened.
#[component]
pub fn AgentSheet(conversation: Conversation) -> impl IntoView {
    let shown = ArcRwSignal::new(None);
    let (fetched, asker) = (shown.clone(), conversation.clone());
    let fetch = Callback::new(move |()| {
        let (fetched, session_id) = (fetched.clone(), asker.session_id.clone());
        spawn_local(async move { fetched.set(Some(agent_facts(session_id).await)) });
    });
    let chooser = conversation.clone();
    let content = move || match shown.get() {
        Some(Ok(facts)) if facts.options.is_empty() => {
            text_element("p", "hint", "This agent offers nothing to choose.".to_owned())
        }
        Some(Ok(facts)) => {
            facts.options.into_iter().map(|it| option_view(it, &chooser)).collect_view().into_any()
        }
        Some(Err(failure)) => text_element("p", "problem", failure.message),
        None => text_element("p", "hint", "Asking the agent…".to_owned()),
    };
    let compress = move |_| conversation.command(Command::Compress);
    view! {
        <Sheet name="Agent" on_open=fetch>
            {content}
            <button r#type="button" class="button quiet" on:click=compress>
                "Compress the conversation"
            </button>
        </Sheet>
    }
}

fn option_view(option: AgentOption, conversation: &Conversation) -> AnyView {
    let AgentOption { id, name, value: current, choices } = option;
    let conversation = conversation.clone();
    let choose = move |value: String| {
        conversation.command(Command::SetOption { name: id.clone(), value });
    };
    let choices = choices.into_iter().map(|choice| {
        let selected = choice.value == current;
        view! {
            <option value=choice.value selected=selected>
                {choice.name}
            </option>
        }
    });
    view! {
        <label class="agent-option">
            {name}
            <select on:change:target=move |event| choose(event.target().value())>
                {choices.collect_view()}
            </select>
        </label>
    }
    .into_any()
}
