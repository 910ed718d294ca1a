//! Content blocks of an answer: words, files, and what is not known.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::agent::Happening;
use super::json::text;
use super::trace::head;
use crate::domain::message::NoticeLevel;

/// What a content block holds.
#[derive(Debug, PartialEq)]
pub enum Block {
    Words(String),
    File { name: String, media_type: String, bytes: Vec<u8> },
    Unknown(String),
}

pub fn read(block: &Value) -> Block {
    let kind = text(block, "type").unwrap_or("nothing");
    let read = match kind {
        "text" => text(block, "text").map(|words| Block::Words(words.to_owned())),
        "image" | "audio" => file(kind, block, "data"),
        "resource_link" => text(block, "uri").map(|uri| {
            let name = text(block, "title").or_else(|| text(block, "name")).unwrap_or(uri);
            Block::Words(format!("[{name}]({uri})"))
        }),
        "resource" => block.get("resource").and_then(|resource| match text(resource, "text") {
            Some(words) => Some(Block::Words(words.to_owned())),
            None => file("file", resource, "blob"),
        }),
        _ => None,
    };
    read.unwrap_or_else(|| Block::Unknown(kind.to_owned()))
}

fn file(kind: &str, block: &Value, data: &str) -> Option<Block> {
    let bytes = BASE64_STANDARD.decode(text(block, data)?).ok()?;
    let media_type = text(block, "mimeType").unwrap_or("application/octet-stream").to_owned();
    let named = text(block, "uri").and_then(|uri| uri.rsplit('/').next());
    let extension = media_type.rsplit('/').next().unwrap_or("bin");
    let name = named.map_or_else(|| format!("{kind}.{extension}"), str::to_owned);
    Some(Block::File { name, media_type, bytes })
}

/// Translates a block of an answer; `say` makes a happening of its words.
pub fn happening(block: &Value, say: fn(String) -> Happening) -> Happening {
    match read(block) {
        Block::Words(words) => say(words),
        Block::File { name, media_type, bytes } => Happening::File { name, media_type, bytes },
        Block::Unknown(kind) => unknown(&kind),
    }
}

/// Says quietly that something came which is not shown here.
pub fn unknown(kind: &str) -> Happening {
    let text = format!("The agent sent something that is not shown here: {}.", head(kind, 80));
    Happening::Notice { level: NoticeLevel::Info, text }
}
