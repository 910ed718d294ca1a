//! The resolver of the shipped module, open to tests: server and browser must give one answer.

use wasm_bindgen::prelude::wasm_bindgen;

use crate::domain::lineage::Node;
use crate::domain::resolver::{EntryPoint, Intent, Request, resolve};

/// Resolves an id among rows given as JSON, and answers as `throughline resolve` does.
#[wasm_bindgen]
pub fn resolve_rows(
    rows: &str,
    requested: Option<String>,
    inspect: bool,
    complete: bool,
) -> Option<String> {
    let rows: Vec<Node> = serde_json::from_str(rows).ok()?;
    let request = Request {
        id: requested.as_deref(),
        entry_point: EntryPoint::DirectOpen,
        intent: if inspect { Intent::Inspect } else { Intent::Navigate },
    };
    serde_json::to_string(&resolve(&request, &rows, complete)).ok()
}
