//! Recovery: what was found between the journal of sent messages and the conversations.

use leptos::prelude::*;
use leptos::reactive::spawn_local;
use leptos_router::components::A;

use crate::api::recovery::{audit, repair};
use crate::ui::components::address;
use crate::ui::components::element::{element, text_element};
use crate::ui::components::page_head::PageHead;
use crate::ui::components::page_title::PageTitle;
use crate::wire::error::Failure;
use crate::wire::recovery::{AuditReport, Finding, Severity};

#[component]
pub fn RecoveryPage() -> impl IntoView {
    let fetched = Resource::new(|| (), |()| audit());
    view! {
        <PageTitle text="Recovery" />
        <PageHead title="Recovery" />
        <div class="settings">
            <section class="card">
                <p>
                    "Every message is written to a journal before anything is done with it. "
                    "This page compares that journal with your conversations."
                </p>
            </section>
            <Transition fallback=|| view! { <p class="hint">"Looking…"</p> }>
                {move || Suspend::new(async move { report_view(fetched.await, fetched) })}
            </Transition>
        </div>
    }
}

type Fetched = Resource<Result<AuditReport, Failure>>;

fn report_view(report: Result<AuditReport, Failure>, fetched: Fetched) -> AnyView {
    let report = match report {
        Ok(report) => report,
        Err(failure) => return text_element("p", "problem", failure.message),
    };
    let summary = summary_of(&report);
    let repairable = report.findings.iter().any(|finding| !finding.actions.is_empty());
    let findings: Vec<_> = report
        .findings
        .into_iter()
        .filter(|finding| finding.severity != Severity::Ok)
        .map(finding_view)
        .collect();
    view! {
        <section class="card" aria-label="What was found">
            {summary.into_iter().map(|line| text_element("p", "", line)).collect::<Vec<_>>()}
            {(!findings.is_empty()).then(|| element("ul", "findings", findings))}
            {repairable.then(|| view! { <RepairButton fetched /> })}
        </section>
    }
    .into_any()
}

#[component]
fn RepairButton(fetched: Fetched) -> impl IntoView {
    let problem = RwSignal::new(None);
    let under_way = RwSignal::new(false);
    let on_click = move |_| {
        under_way.set(true);
        spawn_local(async move {
            match repair().await {
                Ok(_) => fetched.refetch(),
                Err(failure) => problem.set(Some(failure.message)),
            }
            under_way.set(false);
        });
    };
    view! {
        <button
            r#type="button"
            class="button primary"
            disabled=move || under_way.get()
            on:click=on_click
        >
            {move || if under_way.get() { "Repairing…" } else { "Repair" }}
        </button>
        {move || problem.get().map(|text| text_element("p", "problem", text))}
    }
}

fn summary_of(report: &AuditReport) -> Vec<String> {
    let interrupted = report.findings.iter().filter(|it| it.severity == Severity::Ok).count();
    let mut lines = Vec::new();
    if report.is_sound() {
        lines.push("All is in order.".to_owned());
    }
    lines.push(counted(report.turns, "message was", "messages were", "looked at."));
    if report.under_way > 0 {
        lines.push(counted(report.under_way, "is", "are", "being answered right now."));
    }
    if interrupted > 0 {
        lines.push(counted(
            interrupted,
            "answer was",
            "answers were",
            "interrupted, and marked as such in the conversation.",
        ));
    }
    lines
}

fn counted(count: usize, one: &str, many: &str, rest: &str) -> String {
    let verb = if count == 1 { one } else { many };
    [&count.to_string(), " ", verb, " ", rest].concat()
}

fn finding_view(finding: Finding) -> AnyView {
    let class = match finding.severity {
        Severity::Ok | Severity::Warn => "finding",
        Severity::Repairable => "finding repairable",
        Severity::Manual => "finding manual",
    };
    let link = finding.session_id.map(|id| {
        view! { <A href=address::of_session(&id)>"Open the conversation"</A> }.into_any()
    });
    let mut parts =
        vec![text_element("p", "", finding.message), text_element("p", "hint", finding.file)];
    parts.extend(link);
    element("li", class, parts)
}
