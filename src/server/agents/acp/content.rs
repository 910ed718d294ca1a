//! Content blocks on their way to an agent.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::domain::message::Attachment;
use crate::server::agents::json::at;
use crate::server::blobs::Blobs;

/// The largest file whose text goes along with a prompt; larger ones are named.
const LARGEST_TEXT: u64 = 256 << 10;

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
