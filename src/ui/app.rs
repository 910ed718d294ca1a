//! The document around every page, and the table of pages.

use leptos::prelude::*;
use leptos_meta::{MetaTags, Title, provide_meta_context};
use leptos_router::components::{FlatRoutes, Route, Router};
use leptos_router::{SsrMode, path};

use super::components::frame::Frame;
use super::pages::archive::ArchivePage;
use super::pages::conversation::ConversationPage;
use super::pages::home::HomePage;
use super::pages::new::NewPage;
use super::pages::not_found::NotFoundPage;
use super::pages::recovery::RecoveryPage;
use super::pages::settings::SettingsPage;
use super::platform;
use super::state::AppState;

/// The addresses of the files that bring a page to life.
#[derive(Debug, Clone)]
pub struct ShellAssets {
    pub script: String,
    pub glue: String,
    pub module: String,
    pub style: String,
    /// Whether the page reloads itself when the server was rebuilt.
    pub dev: bool,
}

/// Renders the document that the server sends.
pub fn shell(assets: ShellAssets) -> AnyView {
    let ShellAssets { script, glue, module, style, dev } = assets;
    view! {
        <!DOCTYPE html>
        <html lang="en" data-theme=platform::theme_of_request()>
            <head>
                <meta charset="utf-8" />
                <meta
                    name="viewport"
                    content="width=device-width, initial-scale=1, viewport-fit=cover, interactive-widget=resizes-content"
                />
                <meta name="color-scheme" content="light dark" />
                <link rel="stylesheet" href=style />
                <link rel="modulepreload" href=glue />
                <link
                    rel="preload"
                    href=module
                    r#as="fetch"
                    r#type="application/wasm"
                    crossorigin="anonymous"
                />
                <link rel="icon" href="/icon.svg" r#type="image/svg+xml" />
                <link rel="manifest" href="/manifest.webmanifest" />
                <script r#type="module" src=script></script>
                {dev.then(|| view! { <script r#type="module" src="/dev/reload.js"></script> })}
                <MetaTags />
            </head>
            <body>
                <App />
            </body>
        </html>
    }
    .into_any()
}

#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    let state = AppState::new();
    provide_context(state);
    Effect::new(move || {
        state.outbox.load();
        state.restore_active();
        state.connect();
        state.alive.set(true);
        platform::mark_hydrated();
    });
    // The server writes the title when the page around it may be gone already, so this one is
    // counted and not owned by the page.
    let title = ArcRwSignal::from(state.title);
    let title = move || platform::text_of_title(full_title(&title.get()));
    view! {
        <Title text=title />
        <Router>
            <Frame>
                <FlatRoutes fallback=NotFoundPage>
                    <Route path=path!("") view=HomePage ssr=SsrMode::Async />
                    <Route path=path!("new") view=NewPage ssr=SsrMode::Async />
                    <Route path=path!("session/:id") view=ConversationPage ssr=SsrMode::Async />
                    <Route path=path!("archive/:id") view=ArchivePage ssr=SsrMode::Async />
                    <Route path=path!("recovery") view=RecoveryPage ssr=SsrMode::Async />
                    <Route path=path!("settings") view=SettingsPage ssr=SsrMode::Async />
                </FlatRoutes>
            </Frame>
        </Router>
    }
}

fn full_title(page: &str) -> String {
    if page.is_empty() { "Throughline".to_owned() } else { [page, " · Throughline"].concat() }
}
