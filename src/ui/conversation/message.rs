//! One message and its parts.

use leptos::prelude::*;

use super::controls::{BranchButton, QueuedControls, RetryButton};
use super::entry::Entry;
use super::growing::MarkdownPart;
use super::markdown::Markdown;
use super::question::QuestionCard;
use super::seek::is_wanted;
use super::state::Conversation;
use super::tool::ToolCard;
use crate::domain::ids::TurnId;
use crate::domain::message::{
    Attachment, Message, MessageState, NoticeLevel, Part, PlanEntry, PlanState, Role, Usage,
};
use crate::ui::components::element::{element, text_element};

#[component]
pub fn MessageView(conversation: Conversation, entry: Entry) -> impl IntoView {
    let shared = StoredValue::new((conversation, entry));
    let read = move |read: fn(&Message) -> Option<&'static str>| {
        shared.with_value(|(conversation, entry)| conversation.with_message(entry, read)).flatten()
    };
    let element = NodeRef::new();
    let wanted = is_wanted(shared.with_value(|(_, entry)| entry.message_id.clone()), element);
    let class = move || read(|message| Some(class_of(message)));
    let label = move || read(|message| Some(label_of(message.role)));
    let words = move || read(state_words);
    let unfinished = move || read(|message| is_unfinished(message).then_some(""));
    let working = move || {
        read(|message| {
            let silent = message.state == MessageState::Streaming && message.parts.is_empty();
            silent.then_some("Working…")
        })
    };
    let finished = move || {
        read(|message| {
            let answered = message.role == Role::Assistant;
            (answered && message.state != MessageState::Streaming).then_some("")
        })
    };
    let queued = shared.with_value(|(conversation, entry)| {
        let turn_id = untrack(|| conversation.with_message(entry, queueable)).flatten();
        let queued = conversation.queued.clone();
        move || turn_id.as_ref().is_some_and(|id| queued.with(|queued| queued.contains(id)))
    });
    let usage = move || {
        shared.with_value(|(conversation, entry)| {
            conversation.with_message(entry, |message| message.usage.map(usage_words)).flatten()
        })
    };
    let parts = move || {
        shared.with_value(|(conversation, entry)| {
            let kinds = |message: &Message| {
                message.parts.iter().map(kind_of).enumerate().collect::<Vec<_>>()
            };
            conversation.with_message(entry, kinds).unwrap_or_default()
        })
    };
    view! {
        <article
            node_ref=element
            class=class
            aria-label=label
            data-found=move || wanted().then_some("")
        >
            <For
                each=parts
                key=|key| *key
                children=move |(place, _)| {
                    shared.with_value(|(conversation, entry)| part_view(conversation, entry, place))
                }
            />
            {move || working().map(|text| text_element("p", "working", text.to_owned()))}
            {move || words().map(|text| text_element("p", "message-state", text.to_owned()))}
            {move || usage().map(|text| text_element("p", "usage", text))}
            <Show when=queued>
                <QueuedControls shared />
            </Show>
            <Show when=move || unfinished().is_some()>
                <RetryButton shared />
            </Show>
            <Show when=move || finished().is_some()>
                <BranchButton shared />
            </Show>
        </article>
    }
}

fn class_of(message: &Message) -> &'static str {
    match (message.role, message.state) {
        (Role::User, _) => "message prompt",
        (Role::System, _) => "message system",
        (Role::Assistant, MessageState::Streaming) => "message answer streaming",
        (Role::Assistant, MessageState::Complete) => "message answer",
        (Role::Assistant, _) => "message answer unfinished",
    }
}

fn label_of(role: Role) -> &'static str {
    match role {
        Role::User => "You",
        Role::Assistant => "Agent",
        Role::System => "Summary of the earlier part",
    }
}

fn state_words(message: &Message) -> Option<&'static str> {
    match message.state {
        MessageState::Complete if message.recovered => {
            Some("Restored after the server stopped unexpectedly")
        }
        MessageState::Complete | MessageState::Streaming => None,
        MessageState::Cancelled => Some("Stopped by you"),
        MessageState::Failed => Some("Stopped: the agent reported an error"),
        MessageState::Crashed => Some("Stopped: the agent ended unexpectedly"),
        MessageState::Interrupted => Some("Stopped: the server restarted"),
        MessageState::Waiting => {
            Some("The server restarted here. Your answer lets the agent go on.")
        }
    }
}

/// Gives the turn of a prompt, which is what can wait in a queue.
fn queueable(message: &Message) -> Option<TurnId> {
    message.turn_id.clone().filter(|_| message.role == Role::User)
}

fn is_unfinished(message: &Message) -> bool {
    let goes_on = matches!(
        message.state,
        MessageState::Complete | MessageState::Streaming | MessageState::Waiting
    );
    message.role == Role::Assistant && message.turn_id.is_some() && !goes_on
}

/// Tells parts of different kinds apart, so that a place whose kind changed gets a new view.
fn kind_of(part: &Part) -> u8 {
    match part {
        Part::Text { .. } => 0,
        Part::Thinking { .. } => 1,
        Part::Tool(_) => 2,
        Part::Attachment(_) => 3,
        Part::Plan { .. } => 4,
        Part::Question(_) => 5,
        Part::Notice { .. } => 6,
    }
}

fn part_view(conversation: &Conversation, entry: &Entry, place: usize) -> AnyView {
    let part = untrack(|| conversation.with_part(entry, place, Part::clone));
    let (conversation, entry) = (conversation.clone(), entry.clone());
    let role = untrack(|| conversation.with_message(&entry, |message| message.role));
    match part {
        Some(Part::Text { text }) if role == Some(Role::System) => view! {
            <details class="divider">
                <summary>"Compressed here"</summary>
                <Markdown text />
            </details>
        }
        .into_any(),
        Some(Part::Text { text }) if role == Some(Role::User) => {
            view! { <Markdown text /> }.into_any()
        }
        Some(Part::Text { .. }) => view! { <MarkdownPart conversation entry place /> }.into_any(),
        Some(Part::Thinking { .. }) => view! {
            <details class="thinking">
                <summary>"Thinking"</summary>
                <MarkdownPart conversation entry place />
            </details>
        }
        .into_any(),
        Some(Part::Tool(tool)) => view! { <ToolCard conversation entry place tool /> }.into_any(),
        Some(Part::Question(question)) => {
            view! { <QuestionCard conversation entry place question /> }.into_any()
        }
        Some(Part::Plan { .. }) => plan_view(conversation, entry, place),
        Some(Part::Attachment(attachment)) => attachment_view(&attachment),
        Some(Part::Notice { level, text }) => notice_view(level, text),
        None => ().into_any(),
    }
}

fn plan_view(conversation: Conversation, entry: Entry, place: usize) -> AnyView {
    let entries = move || {
        let plan = conversation.with_part(&entry, place, |part| match part {
            Part::Plan { entries } => entries.clone(),
            _ => Vec::new(),
        });
        plan.unwrap_or_default().into_iter().map(plan_entry_view).collect::<Vec<_>>()
    };
    view! {
        <section class="plan" aria-label="Plan">
            <ol>{entries}</ol>
        </section>
    }
    .into_any()
}

fn plan_entry_view(entry: PlanEntry) -> AnyView {
    let (class, words) = match entry.state {
        PlanState::Pending => ("pending", "to do"),
        PlanState::Active => ("active", "under way"),
        PlanState::Done => ("done", "done"),
    };
    let words = text_element("span", "visually-hidden", [" (", words, ")"].concat());
    element("li", class, vec![entry.text.into_any(), words])
}

fn attachment_view(attachment: &Attachment) -> AnyView {
    let address = ["/api/blobs/", attachment.blob.as_str()].concat();
    let name = attachment.name.clone();
    if attachment.is_image() {
        return view! { <img class="picture" src=address alt=name loading="lazy" /> }.into_any();
    }
    let shown = name.clone();
    view! {
        <a class="file" href=address download=name>
            {shown}
        </a>
    }
    .into_any()
}

fn notice_view(level: NoticeLevel, text: String) -> AnyView {
    let class = match level {
        NoticeLevel::Info => "notice",
        NoticeLevel::Warning => "notice warning",
        NoticeLevel::Error => "notice error",
    };
    text_element("p", class, text)
}

fn usage_words(usage: Usage) -> String {
    let tokens = usage.input_tokens + usage.output_tokens;
    let mut words = tokens.to_string();
    words.push_str(" tokens");
    if let (Some(used), Some(limit)) = (usage.context_tokens, usage.context_limit)
        && limit > 0
    {
        words.push_str(" · ");
        words.push_str(&(used.saturating_mul(100) / limit).to_string());
        words.push_str(" % of the context");
    }
    // Whole numbers: writing fractions would cost the browser more code than it is worth.
    let hundredths = usage.cost_usd.map_or(0, |cost| (cost * 10_000.0) as u64);
    if hundredths > 0 {
        let fraction = (10_000 + hundredths % 10_000).to_string();
        let fraction = fraction.strip_prefix('1').unwrap_or_default();
        words.push_str(&[" · $", &(hundredths / 10_000).to_string(), ".", fraction].concat());
    }
    words
}
