//! Settings: the theme, the agents, and what server this is.

use leptos::prelude::*;
use leptos_router::components::A;

use crate::api::settings::about;
use crate::ui::components::element::element;
use crate::ui::components::page_head::PageHead;
use crate::ui::components::page_title::PageTitle;
use crate::ui::components::time::Time;
use crate::ui::platform;
use crate::wire::rest::{About, AgentInfo, DeviceInfo};

const THEMES: [(&str, &str); 3] = [("", "As the system"), ("light", "Light"), ("dark", "Dark")];

#[component]
pub fn SettingsPage() -> impl IntoView {
    let fetched = Resource::new(|| (), |()| about());
    view! {
        <PageTitle text="Settings" />
        <PageHead title="Settings" />
        <div class="settings">
            <ThemeChoice />
            <Transition>
                {move || Suspend::new(async move {
                    match fetched.await {
                        Ok(about) => about_view(about),
                        Err(failure) => {
                            view! { <p class="problem" role="alert">{failure.message}</p> }
                                .into_any()
                        }
                    }
                })}
            </Transition>
        </div>
    }
}

#[component]
fn ThemeChoice() -> impl IntoView {
    let chosen = RwSignal::new(None);
    Effect::new(move || chosen.set(Some(platform::remembered_theme())));
    let choose = move |theme: &'static str| {
        platform::remember_theme(theme);
        chosen.set(Some(theme.to_owned()));
    };
    let choices = THEMES.map(|(theme, label)| {
        view! {
            <label class="choice">
                <input
                    r#type="radio"
                    name="theme"
                    value=theme
                    prop:checked=move || chosen.with(|it| it.as_deref() == Some(theme))
                    on:change=move |_| choose(theme)
                />
                {label}
            </label>
        }
    });
    view! {
        <fieldset class="card">
            <legend>"Theme"</legend>
            {choices}
        </fieldset>
    }
}

fn about_view(about: About) -> AnyView {
    let agents: Vec<_> = about.agents.into_iter().map(agent_view).collect();
    view! {
        <section class="card" aria-labelledby="agents">
            <h2 id="agents">"Agents"</h2>
            <ul class="agents">{agents}</ul>
        </section>
        {devices_view(about.devices)}
        <section class="card" aria-labelledby="about">
            <h2 id="about">"About"</h2>
            <dl class="facts">
                <dt>"Version"</dt>
                <dd>{about.version}</dd>
                <dt>"Folder"</dt>
                <dd>
                    <code>{about.workspace}</code>
                </dd>
                <dt>"Data"</dt>
                <dd>
                    <code>{about.data_dir}</code>
                </dd>
            </dl>
            <A href="/recovery" attr:class="button quiet">
                "Recovery"
            </A>
        </section>
    }
    .into_any()
}

/// Lists the devices that are signed in, each with a plain form that signs it out.
fn devices_view(devices: Vec<DeviceInfo>) -> Option<AnyView> {
    if devices.is_empty() {
        return None;
    }
    let rows = devices.into_iter().map(device_view).collect();
    let heading = view! { <h2 id="devices">"Signed-in devices"</h2> }.into_any();
    Some(element("section", "card", vec![heading, element("ul", "devices", rows)]))
}

fn device_view(device: DeviceInfo) -> AnyView {
    let DeviceInfo { device_id, name, last_seen_at, current } = device;
    let action =
        if current { "/logout".to_owned() } else { ["/devices/", &device_id, "/revoke"].concat() };
    let label = ["Sign out ", &name].concat();
    let seen = if current { "This device" } else { "Last seen " };
    view! {
        <li>
            <div class="agent-words">
                <strong>{name}</strong>
                <span>{seen} {(!current).then(|| view! { <Time at=last_seen_at /> })}</span>
            </div>
            <form method="post" action=action>
                <button r#type="submit" class="button" aria-label=label>
                    "Sign out"
                </button>
            </form>
        </li>
    }
    .into_any()
}

fn agent_view(agent: AgentInfo) -> impl IntoView {
    view! {
        <li>
            <strong>{agent.name}</strong>
            <span>{agent.missing.unwrap_or(agent.description)}</span>
        </li>
    }
}
