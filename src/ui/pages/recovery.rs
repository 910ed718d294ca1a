//! Recovery: what was found between the journal of sent messages and the conversations.

use leptos::prelude::*;
use leptos::reactive::spawn_local;
use leptos_router::components::A;

use crate::api::recovery::recovery;
use crate::ui::components::address;
use crate::ui::components::element::{element, text_element};
use crate::ui::components::page_head::PageHead;
use crate::ui::components::page_title::PageTitle;
use crate::wire::error::Failure;
use crate::wire::recovery::{RecoveryPage as Report, ShownFinding};

#[component]
pub fn RecoveryPage() -> impl IntoView {
    let fetched = Resource::new(|| (), |()| recovery(false));
    let repaired = RwSignal::new(None);
    let words = "Every message is written to a journal before anything is done with it. \
        This page compares that journal with your conversations.";
    view! {
        <PageTitle text="Recovery" />
        <PageHead title="Recovery" />
        <div class="settings">
            {text_element("p", "card", words.to_owned())}
            <Transition fallback=|| text_element("p", "hint", "Looking…".to_owned())>
                {move || Suspend::new(async move {
                    let fetched = fetched.await;
                    report_view(repaired.get().unwrap_or(fetched), repaired)
                })}
            </Transition>
        </div>
    }
}

type Repaired = RwSignal<Option<Result<Report, Failure>>>;

fn report_view(report: Result<Report, Failure>, repaired: Repaired) -> AnyView {
    let report = match report {
        Ok(report) => report,
        Err(failure) => return text_element("p", "problem", failure.message),
    };
    let mut content: Vec<_> =
        report.summary.into_iter().map(|line| text_element("p", "", line)).collect();
    let findings: Vec<_> = report.findings.into_iter().map(finding_view).collect();
    if !findings.is_empty() {
        content.push(element("ul", "findings", findings));
    }
    if report.repairable {
        content.push(view! { <RepairButton repaired /> }.into_any());
    }
    element("section", "card", content)
}

#[component]
fn RepairButton(repaired: Repaired) -> impl IntoView {
    let under_way = RwSignal::new(false);
    let repair = move |_| {
        under_way.set(true);
        spawn_local(async move { repaired.set(Some(recovery(true).await)) });
    };
    view! {
        <button
            r#type="button"
            class="button primary"
            disabled=move || under_way.get()
            on:click=repair
        >
            {move || if under_way.get() { "Repairing…" } else { "Repair" }}
        </button>
    }
}

fn finding_view(finding: ShownFinding) -> AnyView {
    let class = if finding.needs_a_person { "finding manual" } else { "finding" };
    let mut parts =
        vec![text_element("p", "", finding.message), text_element("p", "hint", finding.file)];
    parts.extend(finding.session_id.map(|id| {
        view! { <A href=address::of_session(&id)>"Open the conversation"</A> }.into_any()
    }));
    element("li", class, parts)
}
