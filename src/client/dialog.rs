//! Dialogs and the focus.

use wasm_bindgen::JsCast;
use web_sys::{Element, Event, HtmlDialogElement, HtmlElement, HtmlInputElement};

/// Puts a dialog before the page. Opened twice, it is open.
pub fn show_modal(dialog: &HtmlDialogElement) {
    let _ = dialog.show_modal();
}

/// Closes a dialog; the browser gives the focus back.
pub fn close_modal(dialog: &HtmlDialogElement) {
    dialog.close();
}

/// Gives the focus to an element that is on the page, so that it can take it.
pub fn focus(element: &HtmlElement) {
    let _ = element.focus();
}

/// Lets a person type over what a field holds.
pub fn select_text(field: &HtmlInputElement) {
    focus(field);
    field.select();
}

/// Brings the chosen option of a list into view, once it is chosen.
pub fn show_choice(event: &Event) {
    let field: Option<Element> = event.target().and_then(|it| it.dyn_into().ok());
    let Some(field) = field else { return };
    super::next_frame(move || {
        let id = field.get_attribute("aria-activedescendant");
        let option = id.zip(field.owner_document()).and_then(|(id, it)| it.get_element_by_id(&id));
        if let Some(option) = option {
            option.scroll_into_view_with_bool(false);
        }
    });
}
