//! What a file is, told by its name.

use std::path::Path;

/// Gives the media type a browser needs to use a file.
pub fn of(path: &str) -> &'static str {
    let extension =
        Path::new(path).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension {
        "css" => "text/css; charset=utf-8",
        "html" => "text/html; charset=utf-8",
        "ico" => "image/x-icon",
        "jpg" | "jpeg" => "image/jpeg",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "json" => "application/json",
        "png" => "image/png",
        "svg" => "image/svg+xml",
        "txt" => "text/plain; charset=utf-8",
        "wasm" => "application/wasm",
        "webmanifest" => "application/manifest+json",
        "webp" => "image/webp",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}

/// Tells whether a media type gains from compression: pictures and fonts are packed already.
pub fn is_compressible(content_type: &str) -> bool {
    content_type.starts_with("text/")
        || content_type.ends_with("json")
        || matches!(content_type, "application/wasm" | "image/svg+xml" | "image/x-icon")
}
