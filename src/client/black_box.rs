//! The resolver of the shipped module, open to tests: server and browser must give one answer.

use leptos::wasm_split::wasm_split;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::domain::lineage::Node;
use crate::domain::resolver::{EntryPoint, Intent, Request, resolve};

/// Resolves an id among rows given as JSON, and answers as `throughline resolve` does.
#[wasm_bindgen]
pub async fn resolve_rows(
    rows: String,
    requested: Option<String>,
    inspect: bool,
    complete: bool,
) -> Option<String> {
    resolve_in_part(rows, requested, inspect, complete).await
}

/// Only tests ask, so it is loaded when they do.
#[allow(unsafe_code)]
#[wasm_split(resolver, wasm_split_path = leptos::wasm_split, preload(#[allow(unsafe_code)] load_resolver))]
fn resolve_in_part(
    rows: String,
    requested: Option<String>,
    inspect: bool,
    complete: bool,
) -> Option<String> {
    let rows: Vec<Node> = serde_json::from_str(&rows).ok()?;
    let request = Request {
        id: requested.as_deref(),
        entry_point: EntryPoint::DirectOpen,
        intent: if inspect { Intent::Inspect } else { Intent::Navigate },
    };
    serde_json::to_string(&resolve(&request, &rows, complete)).ok()
}
