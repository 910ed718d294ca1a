//! Icons as inline drawings, so that they need no request and take the colour of the text.

use leptos::prelude::*;

/// Draws one icon; it says nothing to a screen reader, its button does.
#[component]
pub fn Icon(
    /// The path of the drawing on a grid of 24 by 24.
    path: &'static str,
) -> impl IntoView {
    view! {
        <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
            <path d=path />
        </svg>
    }
}

pub const PLUS: &str = "M12 5v14M5 12h14";
pub const BACK: &str = "M15 5l-7 7 7 7";
pub const SEND: &str = "M12 19V5M5.5 11.5 12 5l6.5 6.5";
pub const STOP: &str = "M7 7h10v10H7z";
pub const DOWN: &str = "M12 5v14M5.5 12.5 12 19l6.5-6.5";
pub const GEAR: &str = "M4 7h9M17 7h3M4 17h3M11 17h9M15 4.5v5M9 14.5v5";
pub const COPY: &str = "M9 9h11v11H9zM5 15H4V4h11v1";
pub const CLIP: &str = "M19 11l-7.5 7.5a4.5 4.5 0 0 1-6.4-6.4L13 4.3a3 3 0 0 1 4.2 4.2l-7.8 7.8a1.5 1.5 0 0 1-2.1-2.1L14 7.5";
pub const BRANCH: &str = "M7 4v16M7 16c0-6 10-3 10-11M13.5 8.5 17 5l3.5 3.5";
