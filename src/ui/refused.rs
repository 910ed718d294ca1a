//! The page that a plain form leads to when its message was refused: nothing written is lost.

use leptos::prelude::*;

use super::plain::plain_document;
use crate::wire::refused::RefusedPrompt;

/// Renders the whole document.
pub fn refused_document(style: String, page: RefusedPrompt) -> AnyView {
    let RefusedPrompt { problem, action, content, back } = page;
    let content = view! {
        <form method="post" action=action>
            <p id="problem" class="problem" role="alert">
                {problem}
            </p>
            <label class="field">
                "Your message" <textarea name="content" rows="8" aria-describedby="problem">
                    {content}
                </textarea>
            </label>
            <button r#type="submit" class="button primary">
                "Send again"
            </button>
            <a class="button quiet" href=back>
                "Back to the conversation"
            </a>
        </form>
    };
    plain_document(style, "Not sent", content.into_any())
}
