//! Typed blocks as views. There is no raw HTML anywhere: text stays text.

use leptos::prelude::*;

use super::state::{Conversation, Entry};
use crate::domain::highlight::{Token, highlight};
use crate::domain::markdown::{Alignment, Block, Document, Inline, Item, parse};
use crate::domain::message::Part;
use crate::ui::components::icon::{COPY, Icon};
use crate::ui::platform;

/// Shows a text that does not change.
#[component]
pub fn Markdown(text: String) -> impl IntoView {
    view! { <div class="prose" dir="auto">{blocks_view(&parse(&text))}</div> }
}

/// A growing text, and how often each of its blocks has changed.
#[derive(Default)]
struct Growing {
    document: Document,
    versions: Vec<u32>,
}

impl Growing {
    /// Takes in the text as it is now; only blocks that differ get a new version.
    fn follow(&mut self, text: &str) {
        let settled = self.document.settled();
        let open: Vec<_> = self.document.blocks().get(settled..).unwrap_or_default().to_vec();
        match text.strip_prefix(self.document.text()) {
            Some(more) => self.document.push(more),
            None => {
                self.document = Document::new(text);
                self.versions.iter_mut().for_each(|version| *version += 1);
            }
        }
        let blocks = self.document.blocks();
        self.versions.resize(blocks.len(), 0);
        for (place, block) in blocks.iter().enumerate().skip(settled) {
            let known = place.checked_sub(settled).and_then(|place| open.get(place));
            if known.is_some_and(|known| known != block)
                && let Some(version) = self.versions.get_mut(place)
            {
                *version += 1;
            }
        }
    }
}

/// Shows a part that may still grow: only its last block is parsed and drawn again.
#[component]
pub fn MarkdownPart(conversation: Conversation, entry: Entry, place: usize) -> impl IntoView {
    let growing = StoredValue::new(Growing::default());
    let keys = move || {
        conversation.with_part(&entry, place, |part| {
            if let Part::Text { text } | Part::Thinking { text } = part {
                growing.update_value(|growing| growing.follow(text));
            }
        });
        growing
            .with_value(|growing| growing.versions.iter().copied().enumerate().collect::<Vec<_>>())
    };
    let block = move |place: usize| {
        growing.with_value(|growing| growing.document.blocks().get(place).map(block_view))
    };
    view! {
        <div class="prose" dir="auto">
            <For each=keys key=|key| *key children=move |(place, _)| block(place) />
        </div>
    }
}

fn blocks_view(blocks: &[Block]) -> Vec<AnyView> {
    blocks.iter().map(block_view).collect()
}

fn block_view(block: &Block) -> AnyView {
    match block {
        Block::Heading { level, content } => heading_view(*level, inlines_view(content)),
        Block::Paragraph(content) => view! { <p>{inlines_view(content)}</p> }.into_any(),
        Block::Code { language, title, text } => code_view(language, title, text),
        Block::Quote(blocks) => view! { <blockquote>{blocks_view(blocks)}</blockquote> }.into_any(),
        Block::List { start, tight, items } => list_view(*start, *tight, items),
        Block::Table { alignments, head, rows } => table_view(alignments, head, rows),
        Block::Rule => view! { <hr /> }.into_any(),
    }
}

/// Begins two levels down, for the page and the conversation have the first ones.
fn heading_view(level: u8, content: Vec<AnyView>) -> AnyView {
    match level {
        1 => view! { <h2>{content}</h2> }.into_any(),
        2 => view! { <h3>{content}</h3> }.into_any(),
        3 => view! { <h4>{content}</h4> }.into_any(),
        4 => view! { <h5>{content}</h5> }.into_any(),
        _ => view! { <h6>{content}</h6> }.into_any(),
    }
}

fn code_view(language: &str, title: &str, text: &str) -> AnyView {
    let caption = [language, title].join(" ");
    let lines = code_lines(language, text);
    let copied = text.to_owned();
    view! {
        <figure class="code">
            <figcaption>
                <span>{caption.trim().to_owned()}</span>
                <button
                    r#type="button"
                    class="button quiet"
                    aria-label="Copy code"
                    on:click=move |_| platform::copy_text(&copied)
                >
                    <Icon path=COPY />
                </button>
            </figcaption>
            <pre tabindex="0">
                <code>{lines}</code>
            </pre>
        </figure>
    }
    .into_any()
}

/// Colours code, one element for each coloured stretch and none for plain text.
pub fn code_lines(language: &str, text: &str) -> Vec<AnyView> {
    let mut views = Vec::new();
    let mut plain = String::new();
    for (number, line) in highlight(language, text).into_iter().enumerate() {
        if number > 0 {
            plain.push('\n');
        }
        for span in line {
            let Some(class) = token_class(span.token) else {
                plain.push_str(&span.text);
                continue;
            };
            if !plain.is_empty() {
                views.push(std::mem::take(&mut plain).into_any());
            }
            views.push(view! { <span class=class>{span.text}</span> }.into_any());
        }
    }
    if !plain.is_empty() {
        views.push(plain.into_any());
    }
    views
}

fn token_class(token: Token) -> Option<&'static str> {
    match token {
        Token::Plain => None,
        Token::Keyword => Some("t-keyword"),
        Token::Text => Some("t-text"),
        Token::Comment => Some("t-comment"),
        Token::Number => Some("t-number"),
        Token::Name => Some("t-name"),
        Token::Added => Some("t-added"),
        Token::Removed => Some("t-removed"),
        Token::Heading => Some("t-heading"),
    }
}

fn list_view(start: Option<u32>, tight: bool, items: &[Item]) -> AnyView {
    let class = if tight { "tight" } else { "loose" };
    let items: Vec<_> = items.iter().map(|item| item_view(item, tight)).collect();
    match start {
        Some(start) => view! { <ol class=class start=start.to_string()>{items}</ol> }.into_any(),
        None => view! { <ul class=class>{items}</ul> }.into_any(),
    }
}

fn item_view(item: &Item, tight: bool) -> AnyView {
    let mut content = Vec::new();
    for block in &item.blocks {
        content.push(match block {
            Block::Paragraph(inlines) if tight => inlines_view(inlines).into_any(),
            other => block_view(other),
        });
    }
    match item.task {
        Some(done) => view! {
            <li class="task">
                <input r#type="checkbox" disabled checked=done aria-label="Task" />
                <div>{content}</div>
            </li>
        }
        .into_any(),
        None => view! { <li>{content}</li> }.into_any(),
    }
}

fn table_view(
    alignments: &[Alignment],
    head: &[Vec<Inline>],
    rows: &[Vec<Vec<Inline>>],
) -> AnyView {
    let class = |place: usize| match alignments.get(place) {
        Some(Alignment::Center) => Some("center"),
        Some(Alignment::Right) => Some("end"),
        _ => None,
    };
    let head: Vec<_> = head
        .iter()
        .enumerate()
        .map(|(place, cell)| view! { <th class=class(place)>{inlines_view(cell)}</th> }.into_any())
        .collect();
    let row = |cells: &Vec<Vec<Inline>>| {
        let cells = cells.iter().enumerate();
        let cells = cells
            .map(|(place, cell)| {
                view! { <td class=class(place)>{inlines_view(cell)}</td> }.into_any()
            })
            .collect::<Vec<_>>();
        view! { <tr>{cells}</tr> }.into_any()
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    view! {
        <div class="table" tabindex="0" role="group" aria-label="Table">
            <table>
                <thead>
                    <tr>{head}</tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn inlines_view(inlines: &[Inline]) -> Vec<AnyView> {
    inlines.iter().map(inline_view).collect()
}

fn inline_view(inline: &Inline) -> AnyView {
    match inline {
        Inline::Text(text) => text.clone().into_any(),
        Inline::Code(code) => view! { <code>{code.clone()}</code> }.into_any(),
        Inline::Emphasis(content) => view! { <em>{inlines_view(content)}</em> }.into_any(),
        Inline::Strong(content) => view! { <strong>{inlines_view(content)}</strong> }.into_any(),
        Inline::Strike(content) => view! { <s>{inlines_view(content)}</s> }.into_any(),
        Inline::Link { target, content, .. } => view! {
            <a href=target.clone() rel="noopener noreferrer">
                {inlines_view(content)}
            </a>
        }
        .into_any(),
        // A picture from elsewhere would tell that server who reads; a link lets the reader decide.
        Inline::Image { target, alt, .. } => view! {
            <a href=target.clone() rel="noopener noreferrer">
                {alt.clone()}
            </a>
        }
        .into_any(),
        Inline::Break => view! { <br /> }.into_any(),
    }
}
