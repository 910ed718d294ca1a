//! Elements by name, for views that are made from data.
//!
//! A typed element costs the browser a copy of the code that builds, hydrates and changes it. Where
//! a text decides what is shown, one kind of element for all names keeps the download small.

use leptos::html::custom;
use leptos::prelude::*;

/// Makes an element with a class, or without one where the class is empty.
pub fn element(name: &'static str, class: &'static str, content: Vec<AnyView>) -> AnyView {
    let class = (!class.is_empty()).then_some(class);
    custom(name).attr("class", class).child(content).into_any()
}

/// Makes an element that holds a text.
pub fn text_element(name: &'static str, class: &'static str, text: String) -> AnyView {
    element(name, class, vec![text.into_any()])
}
