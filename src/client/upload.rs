//! Bringing a person's files to the server.

use js_sys::{Array, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{Event, File, RequestInit, Response};

use crate::domain::message::Attachment;
use crate::wire::error::{ErrorReply, Failure, FailureCode};
use crate::wire::rest::StoredBlob;

/// Uploads the files that an input holds or a paste carries, and calls back for each. Tells how many
/// there are.
pub fn upload_files(
    event: &Event,
    done: impl Fn(Result<Attachment, Failure>) + Clone + 'static,
) -> usize {
    let files = files_of(event).unwrap_or_default();
    for file in &files {
        let (file, done) = (file.clone(), done.clone());
        spawn_local(async move { done(upload(file).await) });
    }
    files.len()
}

/// Finds the files of a paste, or else those of the input that the event came from.
fn files_of(event: &Event) -> Option<Vec<File>> {
    let field = |of: &JsValue, name: &str| {
        Reflect::get(of, &JsValue::from_str(name)).ok().filter(JsValue::is_truthy)
    };
    let holder = field(event, "clipboardData").or_else(|| field(event, "target"))?;
    let files = Array::from(&field(&holder, "files")?);
    let files = files.iter().filter_map(|file| file.dyn_into().ok()).collect();
    // Choosing the same file again must be a change again.
    if let Ok(input) = holder.dyn_into::<web_sys::HtmlInputElement>() {
        input.set_value("");
    }
    Some(files)
}

async fn upload(file: File) -> Result<Attachment, Failure> {
    let init = RequestInit::new();
    init.set_method("POST");
    init.set_body(&file);
    let unreachable = || Failure::new(FailureCode::Network, "The file could not be sent.");
    let window = web_sys::window().ok_or_else(unreachable)?;
    let request = window.fetch_with_str_and_init("/api/blobs", &init);
    let response = JsFuture::from(request).await.map_err(|_| unreachable())?;
    let response: Response = response.dyn_into().map_err(|_| unreachable())?;
    let text = JsFuture::from(response.text().map_err(|_| unreachable())?).await;
    let text = text.ok().and_then(|text| text.as_string()).ok_or_else(unreachable)?;
    if !response.ok() {
        let reply = serde_json::from_str::<ErrorReply>(&text).map_err(|_| unreachable())?;
        return Err(reply.error);
    }
    let stored: StoredBlob = serde_json::from_str(&text).map_err(|_| unreachable())?;
    let kind = file.type_();
    let media_type = if kind.is_empty() { "application/octet-stream".to_owned() } else { kind };
    Ok(Attachment { blob: stored.blob, name: file.name(), media_type, size: stored.size })
}
