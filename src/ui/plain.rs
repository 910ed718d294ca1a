//! Documents of their own, plain HTML with nothing of the app behind them.

use leptos::prelude::*;

use crate::ui::platform;

/// Renders a whole document around what stands in it.
pub fn plain_document(style: String, title: &'static str, content: AnyView) -> AnyView {
    view! {
        <!DOCTYPE html>
        <html lang="en" data-theme=platform::theme_of_request()>
            <head>
                <meta charset="utf-8" />
                <meta
                    name="viewport"
                    content="width=device-width, initial-scale=1, viewport-fit=cover"
                />
                <meta name="color-scheme" content="light dark" />
                <title>{title} " · Throughline"</title>
                <link rel="stylesheet" href=style />
                <link rel="icon" href="/icon.svg" r#type="image/svg+xml" />
                <link rel="manifest" href="/manifest.webmanifest" />
            </head>
            <body>
                <main class="plain">
                    <img src="/icon.svg" alt="" width="64" height="64" />
                    <h1>{title}</h1>
                    {content}
                </main>
            </body>
        </html>
    }
    .into_any()
}
