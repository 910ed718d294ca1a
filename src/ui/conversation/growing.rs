//! Views of a text that still grows: only what changed of it is drawn again.

use std::collections::HashMap;

use leptos::prelude::*;

use super::entry::Entry;
use super::markdown::{block_view, frame_view, row_view};
use super::state::Conversation;
use crate::domain::growing::Growing;
use crate::domain::markdown::Block;
use crate::domain::message::Part;

/// How many blocks of a text stay on the page at least, while the reader follows its end.
const FOLLOWED: usize = 60;

/// How many blocks come off the page together. Each block that was ever in a list leaves a little
/// behind until the list goes, so they are in lists that do.
const CHUNK: usize = 20;

/// A growing text, and what the views of its open blocks listen to.
#[derive(Default)]
struct Shown {
    growing: Growing,
    /// The blocks that may still become something else, as they were drawn last.
    changing: HashMap<usize, (u32, ArcTrigger)>,
    /// The blocks that get more rows.
    grown: HashMap<usize, ArcTrigger>,
}

/// Which blocks of a text are on the page: those from one place to another, and of which text.
#[derive(Clone, Copy, PartialEq)]
struct Window {
    left_out: usize,
    count: usize,
    begun_anew: u32,
}

/// Shows a part that may still grow. While the reader follows the end of a very long one, its
/// beginning is taken off the page, so that an answer may go on for hours.
#[component]
pub fn MarkdownPart(conversation: Conversation, entry: Entry, place: usize) -> impl IntoView {
    let shown = StoredValue::new(Shown::default());
    let whole = RwSignal::new(false);
    let window = Memo::new(move |before: Option<&Window>| {
        let known = before.map_or(0, |window| window.left_out);
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
            _ if follows && count > known + FOLLOWED + 2 * CHUNK => {
                (count - FOLLOWED) / CHUNK * CHUNK
            }
            _ => known.min(count),
        };
        if left_out > known {
            shown.update_value(|shown| shown.forget(left_out));
        }
        let begun_anew = shown.with_value(|shown| shown.growing.begun_anew());
        Window { left_out, count, begun_anew }
    });
    let left_out = Memo::new(move |_| window.get().left_out > 0);
    let chunks: Memo<Vec<(usize, u32)>> = Memo::new(move |_| {
        let Window { left_out, count, begun_anew } = window.get();
        (left_out / CHUNK..count.div_ceil(CHUNK)).map(|chunk| (chunk, begun_anew)).collect()
    });
    let chunk_view = move |(chunk, _): (usize, u32)| {
        let (first, end) = (chunk * CHUNK, (chunk + 1) * CHUNK);
        let count = Memo::new(move |_| window.get().count.min(end));
        let blocks = move || (first..count.get()).collect::<Vec<_>>();
        view! { <For each=blocks key=|place| *place children=move |place| part_block(shown, place) /> }
    };
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
            <For each=move || chunks.get() key=|key| *key children=chunk_view />
        </div>
    }
}

impl Shown {
    fn follow(&mut self, text: &str) {
        for place in self.growing.follow(text) {
            if let Some(grown) = self.grown.get(&place) {
                grown.notify();
            }
        }
        let growing = &self.growing;
        self.changing.retain(|place, (drawn, changed)| {
            if growing.version(*place) != *drawn {
                *drawn = growing.version(*place);
                changed.notify();
            }
            !growing.is_settled(*place)
        });
    }

    /// Lets go of the blocks that are taken off the page.
    fn forget(&mut self, before: usize) {
        self.growing.forget(before);
        self.changing.retain(|place, _| *place >= before);
        self.grown.retain(|place, _| *place >= before);
    }

    /// Gives what tells that a block has become something else, where it still may.
    fn changes_of(&mut self, place: usize) -> Option<ArcTrigger> {
        if self.growing.is_settled(place) {
            return None;
        }
        let changed = ArcTrigger::new();
        self.changing.insert(place, (self.growing.version(place), changed.clone()));
        Some(changed)
    }
}

/// Shows a block, in one view for as long as it is on the page: a view for each of its states would
/// leave something behind each time.
fn part_block(shown: StoredValue<Shown>, place: usize) -> AnyView {
    match shown.try_update_value(|shown| shown.changes_of(place)).flatten() {
        None => draw(shown, place),
        Some(changed) => (move || {
            changed.track();
            draw(shown, place)
        })
        .into_any(),
    }
}

/// Draws a block whole, or row by row where it may get more rows.
fn draw(shown: StoredValue<Shown>, place: usize) -> AnyView {
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
