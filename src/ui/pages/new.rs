//! A new conversation with an agent and a folder of one's choice.

mod earlier;

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::reactive::spawn_local;
use leptos_router::hooks::{use_location, use_navigate};

use self::earlier::Earlier;
use crate::api::agents::{complete_folder, offer};
use crate::ui::components::element::{element, text_element};
use crate::ui::components::new_button::start;
use crate::ui::components::page_head::PageHead;
use crate::ui::components::page_title::PageTitle;
use crate::wire::rest::{AgentInfo, NewOffer};

#[component]
pub fn NewPage() -> impl IntoView {
    let fetched = Resource::new(|| (), |()| offer());
    view! {
        <PageTitle text="New conversation" />
        <PageHead title="New conversation" />
        <Transition>
            {move || Suspend::new(async move {
                match fetched.await {
                    Ok(offer) => view! { <NewForm offer /> }.into_any(),
                    Err(failure) => text_element("p", "problem", failure.message),
                }
            })}
        </Transition>
    }
}

/// A plain form, so it works before and without script.
#[component]
fn NewForm(offer: NewOffer) -> impl IntoView {
    let NewOffer { agents, agent, folder, folders } = offer;
    let agent = RwSignal::new(agent);
    let folder = RwSignal::new(folder);
    let folders = RwSignal::new(folders);
    let refused = use_location().search.with_untracked(|search| search.contains("refused"));
    let words = "This agent or folder cannot be used.";
    let problem = RwSignal::new(refused.then(|| words.to_owned()));
    let navigate = use_navigate();
    let on_submit = move |event: SubmitEvent| {
        event.prevent_default();
        start(navigate.clone(), problem, Some(agent.get_untracked()), Some(folder.get_untracked()));
    };
    let on_input = move |event| {
        folder.set(event_target_value(&event));
        spawn_local(async move {
            let typed = folder.get_untracked();
            if let Ok(found) = complete_folder(typed.clone()).await
                && folder.try_get_untracked() == Some(typed)
            {
                folders.set(found);
            }
        });
    };
    let choices: Vec<_> = agents.into_iter().map(|it| agent_choice(it, agent)).collect();
    view! {
        <form class="settings" method="post" action="/new" on:submit=on_submit>
            <fieldset class="card agents">
                <legend>"Agent"</legend>
                {choices}
            </fieldset>
            <label class="card folder-choice">
                <strong>"Folder"</strong>
                <input
                    name="workspace"
                    list="folders"
                    autocomplete="off"
                    spellcheck="false"
                    value=folder.get_untracked()
                    on:input=on_input
                />
            </label>
            <datalist id="folders">
                {move || folders.get().into_iter().map(folder_option).collect::<Vec<_>>()}
            </datalist>
            {move || problem.get().map(|text| text_element("p", "problem", text))}
            <button r#type="submit" class="button primary">
                "Start"
            </button>
            <Earlier agent folder />
        </form>
    }
}

fn folder_option(folder: String) -> AnyView {
    view! { <option value=folder></option> }.into_any()
}

fn agent_choice(info: AgentInfo, chosen: RwSignal<String>) -> AnyView {
    let AgentInfo { id, name, description, missing } = info;
    let off = missing.is_some();
    let checked = chosen.with_untracked(|chosen| *chosen == id);
    let value = id.clone();
    let words = vec![
        text_element("strong", "", name),
        text_element("span", "", missing.unwrap_or(description)),
    ];
    view! {
        <label class="choice">
            <input
                r#type="radio"
                name="agent"
                value=value
                checked=checked
                disabled=off
                on:change=move |_| chosen.set(id.clone())
            />
            {element("div", "agent-words", words)}
        </label>
    }
    .into_any()
}
