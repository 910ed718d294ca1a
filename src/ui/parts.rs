//! Parts of the app that a browser loads when they are wanted. Every visit begins with the list and
//! most with little else, so the list is what a first visit downloads.
//!
//! The part that the page in view belongs to is there before the page comes alive, so what the
//! server rendered is never taken away and drawn again.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_split::{SplitLoaderError, wasm_split};
use leptos_router::LazyRoute;

use super::components::page_title::PageTitle;
use super::components::palette::Palette;
use super::components::row_actions::RowSheet;
use super::components::shortcuts::ShortcutsSheet;
use super::components::unavailable::on_return;
use super::overlay::Overlay;
use super::pages::archive::ArchivePage;
use super::pages::conversation::ConversationPage;
use super::pages::new::NewPage;
use super::pages::recovery::RecoveryPage;
use super::pages::settings::SettingsPage;
use super::platform;
use super::state::AppState;

/// A page that is not there from the beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    Conversation,
    Archive,
    New,
    Recovery,
    Settings,
}

impl Page {
    /// Finds the page that an address leads to.
    pub fn at(path: &str) -> Option<Self> {
        match path.split('/').nth(1)? {
            "session" => Some(Self::Conversation),
            "archive" => Some(Self::Archive),
            "new" => Some(Self::New),
            "recovery" => Some(Self::Recovery),
            "settings" => Some(Self::Settings),
            _ => None,
        }
    }

    /// Names the part that the page belongs to, as its files are named.
    pub fn part(self) -> &'static str {
        match self {
            Self::Conversation | Self::Archive => "conversation",
            Self::New | Self::Recovery | Self::Settings => "pages",
        }
    }

    /// Loads the part that the page belongs to, and tells whether it is there.
    pub async fn load(self) -> bool {
        let loaded = match self {
            Self::Conversation | Self::Archive => load_conversation().await,
            Self::New | Self::Recovery | Self::Settings => load_pages().await,
        };
        loaded.is_ok()
    }

    async fn view(self) -> AnyView {
        let view = match self {
            Self::Conversation | Self::Archive => conversation(self).await,
            Self::New | Self::Recovery | Self::Settings => pages(self).await,
        };
        view.unwrap_or_else(|_| view! { <Unloaded /> }.into_any())
    }
}

/// Loads every part once the app is alive, so that none is waited for later; what a lost connection
/// kept away comes with the next.
pub fn load_ahead(app: AppState) {
    Effect::new(move || {
        app.returns.track();
        spawn_local(async {
            for page in [Page::Conversation, Page::Settings] {
                page.load().await;
            }
            let _ = load_overlays().await;
        });
    });
}

#[allow(unsafe_code)]
#[wasm_split(
    conversation,
    wasm_split_path = leptos::wasm_split,
    fallible,
    preload(#[allow(unsafe_code)] load_conversation)
)]
fn conversation(page: Page) -> Result<AnyView, SplitLoaderError> {
    Ok(match page {
        Page::Archive => view! { <ArchivePage /> }.into_any(),
        _ => view! { <ConversationPage /> }.into_any(),
    })
}

#[allow(unsafe_code)]
#[wasm_split(
    pages,
    wasm_split_path = leptos::wasm_split,
    fallible,
    preload(#[allow(unsafe_code)] load_pages)
)]
fn pages(page: Page) -> Result<AnyView, SplitLoaderError> {
    Ok(match page {
        Page::New => view! { <NewPage /> }.into_any(),
        Page::Recovery => view! { <RecoveryPage /> }.into_any(),
        _ => view! { <SettingsPage /> }.into_any(),
    })
}

#[allow(unsafe_code)]
#[wasm_split(
    overlays,
    wasm_split_path = leptos::wasm_split,
    fallible,
    preload(#[allow(unsafe_code)] load_overlays)
)]
fn overlays(overlay: Overlay) -> Result<AnyView, SplitLoaderError> {
    Ok(match overlay {
        Overlay::Palette => view! { <Palette /> }.into_any(),
        Overlay::Shortcuts => view! { <ShortcutsSheet /> }.into_any(),
        Overlay::Row(id) => view! { <RowSheet id /> }.into_any(),
    })
}

/// Shows whatever is to stand before the page.
#[component]
pub fn Overlays() -> impl IntoView {
    let app = AppState::current();
    move || {
        app.overlay.get().map(|overlay| {
            Suspend::new(async move {
                overlays(overlay).await.unwrap_or_else(|_| {
                    app.overlay.set(None);
                    app.say("This could not be loaded: the server cannot be reached.".to_owned());
                    ().into_any()
                })
            })
        })
    }
}

/// Makes a page a route that is loaded with its part.
macro_rules! route {
    ($route:ident) => {
        pub struct $route;

        impl LazyRoute for $route {
            fn data() -> Self {
                Self
            }

            async fn view(_: Self) -> AnyView {
                Page::$route.view().await
            }

            async fn preload() {
                // The page itself tells of a part that does not come.
                Page::$route.load().await;
            }
        }
    };
}

route!(Conversation);
route!(Archive);
route!(New);
route!(Recovery);
route!(Settings);

/// Says that a part of the app did not come, and loads the page anew when the server is back.
#[component]
fn Unloaded() -> impl IntoView {
    on_return(Callback::new(|()| platform::reload()));
    view! {
        <PageTitle text="Not loaded" />
        <div class="notice-page">
            <h1>"This page could not be loaded"</h1>
            <p>"The server could not be reached. What you wrote is kept."</p>
            <button r#type="button" class="button" on:click=move |_| platform::reload()>
                "Try again"
            </button>
        </div>
    }
}
