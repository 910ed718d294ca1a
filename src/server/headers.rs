//! What every answer tells the browser not to do.

use axum::http::{HeaderName, HeaderValue, header};
use leptos::nonce::use_nonce;
use leptos_axum::ResponseOptions;

/// Sent with everything that is not a page of the app: its files and plain documents.
pub const PLAIN_POLICY: &str = "default-src 'self'; object-src 'none'; base-uri 'none'; \
     form-action 'self'; frame-ancestors 'none'";

pub const PERMISSIONS: &str = "accelerometer=(), camera=(), display-capture=(), geolocation=(), \
     gyroscope=(), magnetometer=(), microphone=(), midi=(), payment=(), usb=()";

pub const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
pub const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
pub const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Lets the page that is being rendered run the app's own scripts, and those of this one rendering
/// by their nonce, and nothing else.
pub fn protect_page() {
    let (Some(nonce), Some(response)) =
        (use_nonce(), leptos::context::use_context::<ResponseOptions>())
    else {
        return;
    };
    let policy = format!(
        "default-src 'none'; script-src 'self' 'nonce-{nonce}' 'wasm-unsafe-eval'; \
         style-src 'self'; img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; \
         manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'; \
         frame-ancestors 'none'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.insert_header(header::CONTENT_SECURITY_POLICY, policy);
    }
}
