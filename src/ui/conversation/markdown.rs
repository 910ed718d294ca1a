//! Typed blocks as views. There is no raw HTML anywhere: text stays text.

use leptos::prelude::*;

use crate::domain::growing::Row;
use crate::domain::highlight::{Line, Token, highlight};
use crate::domain::markdown::{Alignment, Block, Inline, Item, parse};
use crate::ui::components::element::{element, text_element};
use crate::ui::components::icon::{COPY, Icon};
use crate::ui::platform;

/// Gives the code that a press of the copy button is about.
type Copied = Box<dyn Fn() -> String + Send + Sync>;

/// Shows a text that does not change.
#[component]
pub fn Markdown(text: String) -> impl IntoView {
    view! { <div class="prose" dir="auto">{blocks_view(&parse(&text))}</div> }
}

fn blocks_view(blocks: &[Block]) -> Vec<AnyView> {
    blocks.iter().map(block_view).collect()
}

pub fn block_view(block: &Block) -> AnyView {
    match block {
        Block::Heading { level, content } => {
            let (name, class) = heading(*level);
            element(name, class, inlines_view(content))
        }
        Block::Paragraph(content) => element("p", "", inlines_view(content)),
        Block::Quote(blocks) => element("blockquote", "", blocks_view(blocks)),
        Block::Rule => view! { <hr /> }.into_any(),
        Block::Code { language, text, .. } => {
            let copied = text.clone();
            frame_view(
                block,
                code_lines(highlight(language, text)),
                Box::new(move || copied.clone()),
            )
        }
        Block::List { tight, items, .. } => {
            let items = items.iter().map(|item| item_view(item, *tight)).collect();
            frame_view(block, items, Box::new(String::new))
        }
        Block::Table { alignments, rows, .. } => {
            let rows = rows.iter().map(|cells| cells_view("td", alignments, cells)).collect();
            frame_view(block, rows, Box::new(String::new))
        }
    }
}

/// Shows what holds the rows of a block: of code, a list or a table.
pub fn frame_view(block: &Block, rows: Vec<AnyView>, copied: Copied) -> AnyView {
    match block {
        Block::Code { language, title, .. } => code_view(language, title, rows, copied),
        Block::List { start, tight, .. } => list_view(*start, *tight, rows),
        Block::Table { alignments, head, .. } => table_view(alignments, head, rows),
        _ => rows.into_any(),
    }
}

/// Shows one row of a block, at its place.
pub fn row_view(block: &Block, place: usize, row: &Row) -> AnyView {
    match (row, block) {
        (Row::Line(line), _) => {
            let mut views = code_lines(vec![line.clone()]);
            if place > 0 {
                views.insert(0, "\n".into_any());
            }
            views.into_any()
        }
        (Row::Item(item), Block::List { tight, .. }) => item_view(item, *tight),
        (Row::Cells(cells), Block::Table { alignments, .. }) => cells_view("td", alignments, cells),
        _ => ().into_any(),
    }
}

/// Names the element of a heading, and a class by its size. The page's own heading is the first, and
/// a text may begin with any of its own: few levels leave no hole between the two.
fn heading(level: u8) -> (&'static str, &'static str) {
    match level {
        ..=2 => ("h2", ""),
        3 => ("h2", "lesser"),
        _ => ("h3", ""),
    }
}

fn code_view(language: &str, title: &str, lines: Vec<AnyView>, copied: Copied) -> AnyView {
    let caption = [language, title].join(" ");
    view! {
        <figure class="code">
            <figcaption>
                <span>{caption.trim().to_owned()}</span>
                <button
                    r#type="button"
                    class="button quiet"
                    aria-label="Copy code"
                    on:click=move |_| platform::copy_text(&copied())
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

/// Colours lines of code, one element for each coloured stretch and none for plain text.
pub fn code_lines(lines: Vec<Line>) -> Vec<AnyView> {
    let mut views = Vec::new();
    let mut plain = String::new();
    for (number, line) in lines.into_iter().enumerate() {
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

fn list_view(start: Option<u32>, tight: bool, items: Vec<AnyView>) -> AnyView {
    let class = if tight { "tight" } else { "loose" };
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

fn table_view(alignments: &[Alignment], head: &[Vec<Inline>], rows: Vec<AnyView>) -> AnyView {
    let head = element("thead", "", vec![cells_view("th", alignments, head)]);
    let body = element("tbody", "", rows);
    view! {
        <div class="table" tabindex="0" role="group" aria-label="Table">
            {element("table", "", vec![head, body])}
        </div>
    }
    .into_any()
}

fn cells_view(name: &'static str, alignments: &[Alignment], cells: &[Vec<Inline>]) -> AnyView {
    let cells = cells
        .iter()
        .enumerate()
        .map(|(place, cell)| element(name, cell_class(alignments.get(place)), inlines_view(cell)));
    element("tr", "", cells.collect())
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
