//! Views of a text that still grows: only what changed of it is drawn again.

use std::collections::HashMap;

use leptos::prelude::*;

use super::entry::Entry;
use super::markdown::{block_view, frame_view, row_view};
use super::state::Conversation;
use crate::domain::growing::{Growing, Key};
use crate::domain::markdown::Block;
use crate::domain::message::Part;

/// How many blocks of a text stay on the page at least, while the reader follows its end.
const FOLLOWED: usize = 120;

/// A growing text, and what the views of its open blocks listen to.
#[derive(Default)]
struct Shown {
    growing: Growing,
    grown: HashMap<usize, ArcTrigger>,
}

/// Which blocks of a text are on the page: how many are left out at its beginning, and the others.
type Window = (usize, Vec<Key>);

/// Shows a part that may still grow. While the reader follows the end of a very long one, its
/// beginning is taken off the page, so that an answer may go on for hours.
#[component]
pub fn MarkdownPart(conversation: Conversation, entry: Entry, place: usize) -> impl IntoView {
    let shown = StoredValue::new(Shown::default());
    let whole = RwSignal::new(false);
    let window = Memo::new(move |before: Option<&Window>| {
        let known = before.map_or(0, |(left_out, _)| *left_out);
        if whole.get() && known > 0 {
            // What was let go of is read from the text again.
            shown.update_value(|shown| shown.growing = Growing::default());
        }
        conversation.with_part(&entry, place, |part| {
            if let Part::Text { text } | Part::Thinking { text } = part {
                shown.update_value(|shown| shown.follow(text));
            }
        });
        let count = shown.with_value(|shown| shown.growing.count());
        let follows = before.is_some() && conversation.at_end.get_untracked();
        let left_out = match known {
            _ if whole.get() => 0,
            _ if follows && count > known + 2 * FOLLOWED => count - FOLLOWED,
            _ => known.min(count),
        };
        if left_out > known {
            shown.update_value(|shown| shown.forget(left_out));
        }
        (left_out, shown.with_value(|shown| shown.growing.blocks(left_out)))
    });
    let left_out = Memo::new(move |_| window.with(|(left_out, _)| *left_out > 0));
    let blocks = move || window.with(|(_, blocks)| blocks.clone());
    view! {
        <div class="prose" dir="auto">
            <Show when=move || left_out.get()>
                <button
                    r#type="button"
                    class="button quiet earlier"
                    on:click=move |_| whole.set(true)
                >
                    "Show the beginning"
                </button>
            </Show>
            <For each=blocks key=|key| *key children=move |(place, _)| part_block(shown, place) />
        </div>
    }
}

impl Shown {
    /// Lets go of the blocks that are taken off the page.
    fn forget(&mut self, before: usize) {
        self.growing.forget(before);
        self.grown.retain(|place, _| *place >= before);
    }

    fn follow(&mut self, text: &str) {
        for place in self.growing.follow(text) {
            if let Some(grown) = self.grown.get(&place) {
                grown.notify();
            }
        }
    }
}

/// Shows a block whole, or row by row where it may get more rows.
fn part_block(shown: StoredValue<Shown>, place: usize) -> AnyView {
    let (block, grows) = shown.with_value(|shown| {
        (shown.growing.block(place).cloned(), shown.growing.rows(place).is_some())
    });
    match block {
        Some(block) if grows => growing_view(shown, place, &block),
        Some(block) => block_view(&block),
        None => ().into_any(),
    }
}

fn growing_view(shown: StoredValue<Shown>, place: usize, block: &Block) -> AnyView {
    let grown = ArcTrigger::new();
    shown.update_value(|shown| {
        shown.grown.insert(place, grown.clone());
    });
    let rows = move || {
        grown.track();
        shown.with_value(|shown| shown.growing.rows(place)).unwrap_or_default()
    };
    let row = move |row: usize| {
        shown.with_value(|shown| {
            let found = shown.growing.block(place).zip(shown.growing.row(place, row));
            found.map(|(block, found)| row_view(block, row, found))
        })
    };
    let rows = view! { <For each=rows key=|key| *key children=move |(place, _)| row(place) /> };
    let copied = move || {
        shown.with_value(|shown| match shown.growing.block(place) {
            Some(Block::Code { text, .. }) => text.clone(),
            _ => String::new(),
        })
    };
    frame_view(block, vec![rows.into_any()], Box::new(copied))
}
