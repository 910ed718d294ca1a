//! The window through which views see the browser. On the server the same functions exist and do
//! what makes sense there, mostly nothing.

#[cfg(feature = "hydrate")]
pub use crate::client::{
    close_modal, copy_text, focus, focus_page, focus_search, is_touch, is_typing, is_writing,
    keep_row_focus, leave_field, leave_room, local_time, mark_hydrated, mint_id, next_frame,
    next_task,
    outbox::{change_outbox, outbox},
    place_of, reload, remember_theme, remembered_theme, scroll_by, scroll_to, scroll_to_end,
    select_text, show_choice, show_modal,
    socket::{connect, send},
    step_row,
    storage::{remember, remembered},
    upload::upload_files,
};

#[cfg(not(feature = "hydrate"))]
pub use on_server::*;

/// Sets the status of the page under way.
pub fn set_status(status: u16) {
    #[cfg(feature = "ssr")]
    if let Some(response) = leptos::context::use_context::<leptos_axum::ResponseOptions>()
        && let Ok(status) = axum::http::StatusCode::from_u16(status)
    {
        response.set_status(status);
    }
    #[cfg(not(feature = "ssr"))]
    let _ = status;
}

/// Reads the path of the page that is asked for.
pub fn path_of_request() -> Option<String> {
    #[cfg(feature = "ssr")]
    {
        let parts = leptos::context::use_context::<axum::http::request::Parts>()?;
        Some(parts.uri.path().to_owned())
    }
    #[cfg(not(feature = "ssr"))]
    None
}

/// Reads the theme that the reader chose from the request, so that the first paint is right.
pub fn theme_of_request() -> Option<String> {
    #[cfg(feature = "ssr")]
    {
        let parts = leptos::context::use_context::<axum::http::request::Parts>()?;
        let cookies = parts.headers.get(axum::http::header::COOKIE)?.to_str().ok()?;
        let theme = cookies.split(';').find_map(|cookie| cookie.trim().strip_prefix("theme="))?;
        matches!(theme, "light" | "dark").then(|| theme.to_owned())
    }
    #[cfg(not(feature = "ssr"))]
    None
}

/// Prepares a text for the title of the page. The server's `<title>` takes it as it stands, so what
/// could end the element is escaped there; the browser sets the title as plain text.
pub fn text_of_title(text: String) -> String {
    if cfg!(feature = "ssr") { text.replace('&', "&amp;").replace('<', "&lt;") } else { text }
}

#[cfg(not(feature = "hydrate"))]
mod on_server {
    use leptos::web_sys::{Element, Event, HtmlDialogElement, HtmlElement, HtmlInputElement};

    use crate::domain::message::Attachment;
    use crate::domain::time::Timestamp;
    use crate::domain::window::Place;
    use crate::wire::error::Failure;
    use crate::wire::outbox::OutboxTurn;
    use crate::wire::restore::PersistedRestoreV1;
    use crate::wire::socket::{ClientFrame, ServerFrame, Subscription};

    pub fn connect(
        _: impl Fn() -> Vec<Subscription> + 'static,
        _: impl Fn(ServerFrame) + 'static,
        _: impl Fn() + 'static,
    ) {
    }

    pub fn send(_: &ClientFrame) -> bool {
        false
    }

    pub fn mark_hydrated() {}

    pub fn focus_page(_: bool) {}

    pub fn remembered() -> PersistedRestoreV1 {
        PersistedRestoreV1::default()
    }

    pub fn remember(_: PersistedRestoreV1) {}

    pub fn outbox() -> Vec<OutboxTurn> {
        Vec::new()
    }

    pub fn change_outbox(_: impl FnOnce(&mut Vec<OutboxTurn>)) -> bool {
        false
    }

    pub fn upload_files(
        _: &Event,
        _: impl Fn(Result<Attachment, Failure>) + Clone + 'static,
    ) -> usize {
        0
    }

    pub fn mint_id() -> String {
        #[cfg(feature = "ssr")]
        return uuid::Uuid::now_v7().simple().to_string();
        #[cfg(not(feature = "ssr"))]
        String::new()
    }

    pub fn is_touch() -> bool {
        false
    }

    pub fn copy_text(_: &str) {}

    pub fn local_time(_: Timestamp) -> String {
        String::new()
    }

    pub fn remember_theme(_: &str) {}

    pub fn remembered_theme() -> String {
        String::new()
    }

    pub fn scroll_to_end(_: &Element) {}

    pub fn reload() {}

    pub fn scroll_to(_: &Element, _: f64) {}

    pub fn scroll_by(_: &Element, _: f64) {}

    pub fn place_of(_: &Element, _: &Element) -> Option<Place> {
        None
    }

    pub fn leave_room(_: &HtmlElement, _: usize, _: usize) {}

    pub fn next_frame(_: impl FnOnce() + 'static) {}

    pub fn next_task(_: impl FnOnce() + 'static) {}

    pub fn show_modal(_: &HtmlDialogElement) {}

    pub fn close_modal(_: &HtmlDialogElement) {}

    pub fn focus(_: &HtmlElement) {}

    pub fn select_text(_: &HtmlInputElement) {}

    pub fn show_choice(_: &Event) {}

    pub fn is_typing(_: &Event) -> bool {
        false
    }

    pub fn is_writing() -> bool {
        false
    }

    pub fn leave_field(_: &Event) {}

    pub fn keep_row_focus() {}

    pub fn step_row(_: bool) {}

    pub fn focus_search() -> bool {
        false
    }
}
