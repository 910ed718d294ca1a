//! Content blocks, in and out.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use super::json::{at, text};
use crate::domain::message::{Attachment, NoticeLevel};
use crate::server::agents::agent::Happening;
use crate::server::agents::trace::head;
use crate::server::blobs::Blobs;

/// The largest file whose text goes along with a prompt; larger ones are named.
const LARGEST_TEXT: u64 = 256 << 10;

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

/// What an agent takes beside text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tastes {
    pub image: bool,
    pub embedded: bool,
}

impl Tastes {
    pub fn read(introduction: &Value) -> Self {
        let told = at(introduction, &["agentCapabilities", "promptCapabilities"]);
        let taste = |key| told.and_then(|told| told.get(key)).and_then(Value::as_bool);
        Self {
            image: taste("image").unwrap_or_default(),
            embedded: taste("embeddedContext").unwrap_or_default(),
        }
    }
}

/// Makes the blocks of a prompt; files that an agent does not take are named to it.
pub async fn prompt(
    words: &str,
    attachments: &[Attachment],
    tastes: Tastes,
    blobs: &Blobs,
) -> Vec<Value> {
    let mut blocks = vec![json!({ "type": "text", "text": words })];
    for attachment in attachments {
        let Attachment { name, media_type, size, .. } = attachment;
        let embeds = (attachment.is_image() && tastes.image)
            || (!attachment.is_image() && tastes.embedded && *size <= LARGEST_TEXT);
        let bytes = if embeds { blobs.read(&attachment.blob).await.ok().flatten() } else { None };
        let link = || {
            let place = blobs.place(&attachment.blob).unwrap_or_default();
            let uri = format!("file://{}", place.display());
            json!({ "type": "resource_link", "name": name, "uri": uri, "mimeType": media_type, "size": size })
        };
        blocks.push(match bytes {
            Some(bytes) if attachment.is_image() => {
                let data = BASE64_STANDARD.encode(bytes);
                json!({ "type": "image", "data": data, "mimeType": media_type })
            }
            Some(bytes) => match String::from_utf8(bytes) {
                Ok(text) => {
                    let resource = json!({ "uri": format!("attachment:///{name}"), "mimeType": media_type, "text": text });
                    json!({ "type": "resource", "resource": resource })
                }
                Err(_) => link(),
            },
            None => link(),
        });
    }
    blocks
}
