//! Turns blocks back into text, for previews.

use super::slice::push_unbroken;
use super::{Block, Inline};

/// Returns what a reader sees, one line a paragraph, item or row.
pub fn plain_text(blocks: &[Block]) -> String {
    let mut text = String::new();
    write_blocks(blocks, &mut text);
    text.truncate(text.trim_ascii_end().len());
    text
}

fn write_blocks(blocks: &[Block], text: &mut String) {
    for block in blocks {
        match block {
            Block::Heading { content, .. } | Block::Paragraph(content) => {
                write_inlines(content, text);
                text.push('\n');
            }
            Block::Code { text: code, .. } => {
                text.push_str(code);
                text.push('\n');
            }
            Block::Quote(inner) => write_blocks(inner, text),
            Block::List { items, .. } => {
                for item in items {
                    write_blocks(&item.blocks, text);
                }
            }
            Block::Table { head, rows, .. } => {
                write_row(head, text);
                for row in rows {
                    write_row(row, text);
                }
            }
            Block::Rule => {}
        }
    }
}

fn write_row(cells: &[Vec<Inline>], text: &mut String) {
    for cell in cells {
        write_inlines(cell, text);
        text.push(' ');
    }
    text.pop();
    text.push('\n');
}

fn write_inlines(inlines: &[Inline], text: &mut String) {
    for inline in inlines {
        match inline {
            Inline::Text(part) => push_unbroken(text, part),
            Inline::Code(part) | Inline::Image { alt: part, .. } => text.push_str(part),
            Inline::Emphasis(inner)
            | Inline::Strong(inner)
            | Inline::Strike(inner)
            | Inline::Link { content: inner, .. } => write_inlines(inner, text),
            Inline::Break => text.push(' '),
        }
    }
}
