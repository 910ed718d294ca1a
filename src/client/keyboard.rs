//! Going about the page by keyboard.

use wasm_bindgen::JsCast;
use web_sys::{Document, Element, Event, FocusOptions, HtmlElement};

/// What takes keys for itself.
const FIELDS: &str =
    "input:not([type=checkbox],[type=radio]), textarea, select, [contenteditable], dialog";

/// Tells whether a key belongs to a field or a dialog.
pub fn is_typing(event: &Event) -> bool {
    let target: Option<Element> = event.target().and_then(|it| it.dyn_into().ok());
    target.is_some_and(|target| matches!(target.closest(FIELDS), Ok(Some(_))))
}

/// Tells whether somebody is at the place where messages are written.
pub fn is_writing() -> bool {
    let focused = document().and_then(|document| document.active_element());
    focused.is_some_and(|it| matches!(it.closest(".composer textarea"), Ok(Some(_))))
}

/// Takes the focus away from the field that an event came from.
pub fn leave_field(event: &Event) {
    let field: Option<HtmlElement> = event.target().and_then(|it| it.dyn_into().ok());
    if let Some(field) = field {
        // An element without focus stays without.
        let _ = field.blur();
    }
}

/// Goes to the search field, and tells whether there is one to be seen.
pub fn focus_search() -> bool {
    let field = document().and_then(|document| document.get_element_by_id("search"));
    focus_if_shown(field)
}

/// Moves the focus to the next or the previous row of the list that is shown. From elsewhere, it
/// goes to the row of what is in view, or to the first.
pub fn step_row(forward: bool) {
    let Some(document) = document() else { return };
    let find = |selector: &str| document.query_selector(selector).ok().flatten();
    let in_list = |it: Element| it.closest(".rows > li").ok().flatten();
    let from = document.active_element().and_then(in_list);
    let to = match from {
        Some(row) if forward => row.next_element_sibling(),
        Some(row) => row.previous_element_sibling(),
        None => find(".results .row")
            .or_else(|| find(".rows .row[aria-current=page]"))
            .or_else(|| find(".rows .row"))
            .and_then(in_list),
    };
    focus_if_shown(to.and_then(|row| row.query_selector(".row").ok().flatten()));
}

/// Puts the focus where a new page begins: the list at home, the page elsewhere. Whoever is typing
/// is not disturbed.
pub fn focus_page(at_home: bool) {
    let Some(document) = document() else { return };
    let typing = |it: Element| matches!(it.closest(FIELDS), Ok(Some(_)));
    if !document.active_element().is_some_and(typing) {
        let place = if at_home { ".sidebar" } else { "#page" };
        focus_if_shown(document.query_selector(place).ok().flatten());
    }
}

/// Gives the focus back to the row that has it, should it lose it while rows are put elsewhere in the
/// page.
pub fn keep_row_focus() {
    let Some(document) = document() else { return };
    let in_list = |it: &Element| matches!(it.closest(".rows"), Ok(Some(_)));
    let focused = document.active_element().filter(in_list);
    let Some(focused) = focused.and_then(|it| it.dyn_into::<HtmlElement>().ok()) else { return };
    super::next_frame(move || {
        let taken = document.active_element().is_some_and(|it| it.tag_name() != "BODY");
        if !taken && focused.is_connected() {
            let options = FocusOptions::new();
            options.set_prevent_scroll(true);
            // The row is on the page, so it can take the focus.
            let _ = focused.focus_with_options(&options);
        }
    });
}

fn focus_if_shown(element: Option<Element>) -> bool {
    let element: Option<HtmlElement> = element.and_then(|it| it.dyn_into().ok());
    let shown = element.filter(|it| it.offset_height() > 0);
    shown.is_some_and(|it| it.focus().is_ok())
}

fn document() -> Option<Document> {
    web_sys::window()?.document()
}
