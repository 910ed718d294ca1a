//! Conversations that the chosen agent remembers, to be brought in and gone on with.

use leptos::prelude::*;
use leptos::reactive::spawn_local;
use leptos_router::hooks::use_navigate;

use crate::api::agents::{bring_in, earlier_conversations};
use crate::domain::list::shown_title;
use crate::ui::components::address;
use crate::ui::components::element::{element, text_element};
use crate::ui::components::time::Time;
use crate::ui::state::AppState;
use crate::wire::error::Failure;
use crate::wire::rest::{EarlierConversation, ImportRequest};

/// How far looking for conversations has come.
#[derive(Clone, PartialEq)]
enum Search {
    NotAsked,
    Asking,
    Found(Vec<EarlierConversation>),
    BringingIn,
    Failed(String),
}

/// Whom the question goes to.
type Asked = (String, String);

#[component]
pub fn Earlier(agent: RwSignal<String>, folder: RwSignal<String>) -> impl IntoView {
    let search = RwSignal::new(Search::NotAsked);
    let asked = Memo::new(move |_| (agent.get(), folder.get()));
    // What was found belongs to the agent and the folder that were asked about.
    Effect::new(move || {
        asked.track();
        search.set(Search::NotAsked);
    });
    let look = move |_| look(search, asked);
    let navigate = use_navigate();
    let open = Callback::new(move |conversation: EarlierConversation| {
        let navigate = navigate.clone();
        let (agent, folder) = asked.get_untracked();
        let workspace = Some(folder);
        let agent_session = conversation.agent_session;
        search.set(Search::BringingIn);
        spawn_local(async move {
            match bring_in(ImportRequest { agent, workspace, agent_session }).await {
                Ok(id) => navigate(&address::of_session(&id), Default::default()),
                Err(failure) => fail(search, failure),
            }
        });
    });
    let alive = AppState::current().alive;
    let state = move || match search.get() {
        Search::NotAsked => view! {
            <button r#type="button" class="button" on:click=look>
                "Look for earlier conversations"
            </button>
        }
        .into_any(),
        Search::Asking => status("Asking the agent…"),
        Search::BringingIn => status("Bringing it in…"),
        Search::Found(found) if found.is_empty() => {
            status("The agent remembers no conversation in this folder.")
        }
        Search::Found(found) => {
            let rows = found.into_iter().map(|it| choice(it, open)).collect();
            element("ul", "remembered-list", rows)
        }
        Search::Failed(why) => view! { <p class="problem" role="alert">{why}</p> }.into_any(),
    };
    view! {
        <Show when=move || alive.get()>
            <section class="card remembered" aria-labelledby="earlier">
                <h2 id="earlier">"Go on with an earlier one"</h2>
                <p>"Conversations that this agent had in this folder outside of Throughline."</p>
                {state}
            </section>
        </Show>
    }
}

fn look(search: RwSignal<Search>, asked: Memo<Asked>) {
    let (agent, folder) = asked.get_untracked();
    search.set(Search::Asking);
    spawn_local(async move {
        let found = earlier_conversations(agent.clone(), folder.clone()).await;
        // Somebody may have chosen another agent meanwhile.
        if asked.try_get_untracked() == Some((agent, folder)) {
            match found {
                Ok(found) => search.set(Search::Found(found)),
                Err(failure) => fail(search, failure),
            }
        }
    });
}

fn fail(search: RwSignal<Search>, failure: Failure) {
    search.try_set(Search::Failed(failure.message));
}

fn status(words: &'static str) -> AnyView {
    view! { <p role="status">{words}</p> }.into_any()
}

fn choice(conversation: EarlierConversation, open: Callback<EarlierConversation>) -> AnyView {
    let here = conversation.session_id.is_some();
    let title = shown_title(&conversation.title).to_owned();
    let at = conversation.updated_at.map(|at| view! { <Time at class="row-time" /> });
    view! {
        <li>
            <button
                r#type="button"
                class="button quiet"
                on:click=move |_| open.run(conversation.clone())
            >
                <span class="row-title">{title}</span>
                {here.then(|| text_element("span", "badge", "Here already".to_owned()))}
                {at}
            </button>
        </li>
    }
    .into_any()
}
