//! A prompt on its way to pi.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::domain::message::Attachment;
use crate::server::blobs::Blobs;

/// Makes a prompt: pictures go along, other files are named.
pub async fn compose(words: &str, attachments: &[Attachment], blobs: &Blobs) -> Value {
    let (mut message, mut images) = (words.to_owned(), Vec::new());
    for Attachment { blob, name, media_type, .. } in attachments {
        let picture = match media_type.starts_with("image/") {
            true => blobs.read(blob).await.ok().flatten(),
            false => None,
        };
        match picture {
            Some(bytes) => {
                let data = BASE64_STANDARD.encode(bytes);
                images.push(json!({ "type": "image", "data": data, "mimeType": media_type }));
            }
            None => {
                let place = blobs.place(blob).unwrap_or_default();
                message.push_str(&format!("\n\nAttached: {name}, kept at {}", place.display()));
            }
        }
    }
    let mut prompt = json!({ "type": "prompt", "message": message });
    if !images.is_empty() {
        prompt["images"] = images.into();
    }
    prompt
}
