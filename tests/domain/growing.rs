use std::collections::HashMap;

use proptest::prelude::*;
use throughline::domain::growing::{Growing, Key, Row};
use throughline::domain::highlight::highlight;
use throughline::domain::markdown::{Block, parse};

/// What a view has on the page: each block as it was drawn, and the rows drawn into it since.
#[derive(Default)]
struct Page {
    growing: Growing,
    drawn: HashMap<Key, (Block, Option<HashMap<Key, Row>>)>,
    /// How many blocks and rows were drawn in all.
    work: usize,
}

impl Page {
    fn follow(&mut self, text: &str) {
        let grown = self.growing.follow(text);
        let keys = self.growing.blocks(0);
        self.drawn.retain(|key, _| keys.contains(key));
        for key in keys {
            let place = key.0;
            let (known, rows) = match self.drawn.remove(&key) {
                Some(drawn) if grown.contains(&place) => drawn,
                Some(drawn) => {
                    self.drawn.insert(key, drawn);
                    continue;
                }
                None => {
                    self.work += 1;
                    let block = self.growing.block(place).unwrap().clone();
                    (block, self.growing.rows(place).map(|_| HashMap::new()))
                }
            };
            let rows = rows.map(|mut rows| {
                let keys = self.growing.rows(place).unwrap();
                rows.retain(|key, _| keys.contains(key));
                for key in keys {
                    rows.entry(key).or_insert_with(|| {
                        self.work += 1;
                        self.growing.row(place, key.0).unwrap().clone()
                    });
                }
                rows
            });
            self.drawn.insert(key, (known, rows));
        }
    }

    /// Reads the page: for each block, what a reader sees of it.
    fn shown(&self) -> Vec<Vec<Row>> {
        let shown = self.growing.blocks(0).into_iter().map(|key| {
            let (block, rows) = &self.drawn[&key];
            let Some(rows) = rows else { return rows_of(block) };
            let mut places: Vec<_> = rows.keys().collect();
            places.sort();
            places.into_iter().map(|place| rows[place].clone()).collect()
        });
        shown.collect()
    }
}

/// Takes a block apart for comparison; one without rows stands as a row of its own.
fn rows_of(block: &Block) -> Vec<Row> {
    match block {
        Block::Code { language, text, .. } => {
            highlight(language, text).into_iter().map(Row::Line).collect()
        }
        Block::List { items, .. } => items.iter().cloned().map(Row::Item).collect(),
        Block::Table { rows, .. } => rows.iter().cloned().map(Row::Cells).collect(),
        other => vec![Row::Line(highlight("", &format!("{other:?}")).concat())],
    }
}

fn check(pieces: &[&str]) -> usize {
    let (mut page, mut text) = (Page::default(), String::new());
    for piece in pieces {
        text.push_str(piece);
        page.follow(&text);
        let expected: Vec<_> = parse(&text).iter().map(rows_of).collect();
        assert_eq!(page.shown(), expected, "{text:?}");
    }
    page.work
}

#[test]
fn a_long_block_is_drawn_row_by_row() {
    for (head, row) in [
        ("```rust\n", "let one = \"two\"; // three\n"),
        ("", "- an *item* of `many`\n"),
        ("", "1. an item\n"),
        ("| a | b |\n|---|---|\n", "| some | *words* |\n"),
    ] {
        let rows = 200;
        let pieces: Vec<_> = [head].into_iter().chain(std::iter::repeat_n(row, rows)).collect();
        let work = check(&pieces);
        assert!(work <= 3 * rows, "{row:?} was drawn {work} times for {rows} rows");
    }
}

#[test]
fn a_text_that_is_replaced_is_drawn_anew() {
    let mut page = Page::default();
    for text in ["- a\n- b", "# other\n\n```\ncode", "", "| a |\n|---|\n| b |"] {
        page.follow(text);
        let expected: Vec<_> = parse(text).iter().map(rows_of).collect();
        assert_eq!(page.shown(), expected, "{text:?}");
    }
}

proptest! {
    /// However a text comes in, the page shows at each moment what a fresh page would.
    #[test]
    fn what_is_drawn_is_what_a_fresh_page_shows(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "```rust\n", "```\n", "let a = 1;\n", "/* open\n", "*/\n", "- item\n", "  - inner\n", "1. one\n",
            "| a | b |\n", "|---|---|\n", "| *c* | d |\n", "words ", "**bold** ", "\n", "\n\n", "> quote\n",
            "# head\n", "---\n", "    indented\n", "*", "`", "|",
        ]), 0..40),
    ) {
        check(&pieces);
    }
}

#[test]
fn blocks_that_were_let_go_of_leave_the_others_as_they_are() {
    let paragraphs: Vec<_> = (0..9).map(|number| format!("Paragraph {number}.")).collect();
    let (mut growing, mut text) = (Growing::default(), String::new());
    for (number, paragraph) in paragraphs.iter().enumerate() {
        text.push_str(paragraph);
        text.push_str("\n\n");
        growing.follow(&text);
        growing.forget(number.saturating_sub(3));
    }
    let whole = parse(&text);
    assert_eq!(growing.count(), whole.len());
    assert_ne!(growing.block(0), whole.first(), "it was let go of");
    for place in 6..9 {
        assert_eq!(growing.block(place), whole.get(place));
    }
    assert_eq!(growing.blocks(6).iter().map(|key| key.0).collect::<Vec<_>>(), [6, 7, 8]);
}
