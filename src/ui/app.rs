//! The document around every page, and the table of pages.

use std::collections::BTreeMap;

use leptos::prelude::*;
use leptos_meta::{MetaTags, Title, provide_meta_context};
use leptos_router::components::{FlatRoutes, Route, Router};
use leptos_router::{Lazy, SsrMode, path};

use super::components::frame::Frame;
use super::pages::home::HomePage;
use super::pages::not_found::NotFoundPage;
use super::parts::{self, Page};
use super::platform;
use super::state::AppState;

/// The addresses of the files that bring a page to life.
#[derive(Debug, Clone)]
pub struct ShellAssets {
    pub script: String,
    pub glue: String,
    pub module: String,
    pub style: String,
    /// The files of each part that is loaded when it is wanted.
    pub parts: BTreeMap<String, Vec<String>>,
    /// Whether the page reloads itself when the server was rebuilt.
    pub dev: bool,
}

/// Renders the document that the server sends.
pub fn shell(assets: ShellAssets) -> AnyView {
    let ShellAssets { script, glue, module, style, parts, dev } = assets;
    let part = platform::path_of_request().and_then(|path| Page::at(&path)).map(Page::part);
    let modules = [module]
        .into_iter()
        .chain(part.and_then(|part| parts.get(part).cloned()).into_iter().flatten());
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
                {modules.map(preload).collect_view()}
                <meta
                    name="theme-color"
                    content="#fbfaf7"
                    media="(prefers-color-scheme: light)"
                />
                <meta name="theme-color" content="#12151b" media="(prefers-color-scheme: dark)" />
                <link rel="icon" href="/icon.svg" r#type="image/svg+xml" />
                <link rel="apple-touch-icon" href="/icon-192.png" />
                <link rel="manifest" href="/manifest.webmanifest" />
                <script r#type="module" src=script></script>
                <script r#type="module" src="/pwa.js"></script>
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

/// Lets a file of code come before the script asks for it.
fn preload(module: String) -> impl IntoView {
    view! {
        <link
            rel="preload"
            href=module
            r#as="fetch"
            r#type="application/wasm"
            crossorigin="anonymous"
        />
    }
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
    parts::load_ahead(state);
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
                    <Route path=path!("new") view={Lazy::<parts::New>::new()} ssr=SsrMode::Async />
                    <Route path=path!("session/:id") view={Lazy::<parts::Conversation>::new()} ssr=SsrMode::Async />
                    <Route path=path!("archive/:id") view={Lazy::<parts::Archive>::new()} ssr=SsrMode::Async />
                    <Route path=path!("recovery") view={Lazy::<parts::Recovery>::new()} ssr=SsrMode::Async />
                    <Route path=path!("settings") view={Lazy::<parts::Settings>::new()} ssr=SsrMode::Async />
                </FlatRoutes>
            </Frame>
        </Router>
    }
}

fn full_title(page: &str) -> String {
    if page.is_empty() { "Throughline".to_owned() } else { [page, " · Throughline"].concat() }
}
