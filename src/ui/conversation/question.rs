//! What an agent asks a person.

use leptos::prelude::*;

use super::entry::Entry;
use super::state::Conversation;
use crate::domain::message::{Choice, ChoiceTone, Part, Question};
use crate::wire::socket::Command;

#[component]
pub fn QuestionCard(
    conversation: Conversation,
    entry: Entry,
    place: usize,
    question: Question,
) -> impl IntoView {
    let shared = StoredValue::new((conversation, entry, question.clone()));
    let answer = Memo::new(move |_| {
        shared.with_value(|(conversation, entry, _)| {
            let answer = conversation.with_part(entry, place, |part| match part {
                Part::Question(question) => question.answer.clone(),
                _ => None,
            });
            answer.flatten()
        })
    });
    let open = Memo::new(move |_| {
        let waits = shared.with_value(|(conversation, entry, question)| {
            conversation.with_message(entry, |message| {
                message.open_questions().any(|open| open.request_id == question.request_id)
            })
        });
        waits.unwrap_or(false) && answer.with(Option::is_none)
    });
    let outcome = move || {
        if open.get() {
            return None;
        }
        let label = answer.with(|answer| {
            let answer = answer.as_ref()?;
            let label = |(_, _, question): &(_, _, Question)| label_of(question, answer);
            Some(shared.with_value(label))
        });
        Some(label.unwrap_or_else(|| "Not answered".to_owned()))
    };
    let buttons = move || {
        shared.with_value(|(conversation, _, question)| {
            let buttons = question.options.iter();
            buttons.map(|choice| button(conversation, question, choice)).collect::<Vec<_>>()
        })
    };
    let detail = (!question.detail.is_empty())
        .then(|| view! { <pre class="output" tabindex="0">{question.detail}</pre> });
    view! {
        <section class="question" class:open=move || open.get() aria-label="Question">
            <p class="question-title">{question.title}</p>
            {detail}
            <Show when=move || open.get()>
                <div class="choices">{buttons}</div>
            </Show>
            {move || outcome().map(|text| view! { <p class="message-state">{text}</p> })}
        </section>
    }
}

fn label_of(question: &Question, option: &str) -> String {
    let choice = question.options.iter().find(|choice| choice.option == option);
    choice.map_or_else(|| option.to_owned(), |choice| choice.label.clone())
}

fn button(conversation: &Conversation, question: &Question, choice: &Choice) -> AnyView {
    let conversation = conversation.clone();
    let request_id = question.request_id.clone();
    let option = choice.option.clone();
    let class = match choice.tone {
        ChoiceTone::Allow => "button primary",
        ChoiceTone::Reject | ChoiceTone::Neutral => "button",
    };
    let answer = move |_| {
        conversation
            .command(Command::Answer { request_id: request_id.clone(), option: option.clone() });
    };
    view! {
        <button r#type="button" class=class on:click=answer>
            {choice.label.clone()}
        </button>
    }
    .into_any()
}
