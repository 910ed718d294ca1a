//! Typed blocks as views. There is no raw HTML anywhere: text stays text.

use leptos::prelude::*;

use super::entry::Entry;
use super::state::Conversation;
use crate::domain::highlight::{Token, highlight};
use crate::domain::markdown::{Alignment, Block, Document, Inline, Item, parse};
use crate::domain::message::Part;
use crate::ui::components::element::{element, text_element};
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
        Block::Heading { level, content } => element(heading(*level), "", inlines_view(content)),
        Block::Paragraph(content) => element("p", "", inlines_view(content)),
        Block::Code { language, title, text } => code_view(language, title, text),
        Block::Quote(blocks) => element("blockquote", "", blocks_view(blocks)),
        Block::List { start, tight, items } => list_view(*start, *tight, items),
        Block::Table { alignments, head, rows } => table_view(alignments, head, rows),
        Block::Rule => view! { <hr /> }.into_any(),
    }
}

/// Begins one level down, for the page has the first.
fn heading(level: u8) -> &'static str {
    match level {
        1 => "h2",
        2 => "h3",
        3 => "h4",
        4 => "h5",
        _ => "h6",
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
            views.push(text_element("span", class, span.text));
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
        None => element("ul", class, items),
    }
}

fn item_view(item: &Item, tight: bool) -> AnyView {
    let mut content = Vec::new();
    for block in &item.blocks {
        match block {
            Block::Paragraph(inlines) if tight => content.extend(inlines_view(inlines)),
            other => content.push(block_view(other)),
        }
    }
    match item.task {
        Some(done) => {
            let mark =
                view! { <input r#type="checkbox" disabled checked=done aria-label="Task" /> };
            element("li", "task", vec![mark.into_any(), element("div", "", content)])
        }
        None => element("li", "", content),
    }
}

fn table_view(
    alignments: &[Alignment],
    head: &[Vec<Inline>],
    rows: &[Vec<Vec<Inline>>],
) -> AnyView {
    let row = |name: &'static str, cells: &[Vec<Inline>]| {
        let cells = cells.iter().enumerate().map(|(place, cell)| {
            element(name, cell_class(alignments.get(place)), inlines_view(cell))
        });
        element("tr", "", cells.collect())
    };
    let head = element("thead", "", vec![row("th", head)]);
    let body = element("tbody", "", rows.iter().map(|cells| row("td", cells)).collect());
    view! {
        <div class="table" tabindex="0" role="group" aria-label="Table">
            {element("table", "", vec![head, body])}
        </div>
    }
    .into_any()
}

fn cell_class(alignment: Option<&Alignment>) -> &'static str {
    match alignment {
        Some(Alignment::Center) => "center",
        Some(Alignment::Right) => "end",
        _ => "",
    }
}

fn inlines_view(inlines: &[Inline]) -> Vec<AnyView> {
    inlines.iter().map(inline_view).collect()
}

fn inline_view(inline: &Inline) -> AnyView {
    match inline {
        Inline::Text(text) => text.clone().into_any(),
        Inline::Code(code) => text_element("code", "", code.clone()),
        Inline::Emphasis(content) => element("em", "", inlines_view(content)),
        Inline::Strong(content) => element("strong", "", inlines_view(content)),
        Inline::Strike(content) => element("s", "", inlines_view(content)),
        Inline::Link { target, content, .. } => link_view(target, inlines_view(content)),
        // A picture from elsewhere would tell that server who reads; a link lets the reader decide.
        Inline::Image { target, alt, .. } => link_view(target, vec![alt.clone().into_any()]),
        Inline::Break => view! { <br /> }.into_any(),
    }
}

fn link_view(target: &str, content: Vec<AnyView>) -> AnyView {
    view! {
        <a href=target.to_owned() rel="noopener noreferrer">
            {content}
        </a>
    }
    .into_any()
}
