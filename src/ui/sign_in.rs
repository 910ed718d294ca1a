//! The page to sign in.

use leptos::prelude::*;

use super::plain::plain_document;
use crate::wire::sign_in::SignIn;

/// Renders the whole document.
pub fn sign_in_document(style: String, page: SignIn) -> AnyView {
    let SignIn { next, code, problem } = page;
    let paired = code.is_some();
    let title = if paired { "Sign this device in" } else { "Sign in" };
    let action = if paired { "/pair" } else { "/login" };
    let content = view! {
        <form method="post" action=action>
            <input r#type="hidden" name="next" value=next />
            {match code {
                Some(code) => view! { <input r#type="hidden" name="code" value=code /> }.into_any(),
                None => password_field(problem.is_some()),
            }}
            {problem
                .map(|text| {
                    view! {
                        <p id="problem" class="problem" role="alert">
                            {text}
                        </p>
                    }
                })} <button r#type="submit" class="button primary">
                "Sign in"
            </button>
        </form>
    };
    plain_document(style, title, content.into_any())
}

fn password_field(refused: bool) -> AnyView {
    view! {
        <label class="field">
            "Password"
            <input
                r#type="password"
                name="password"
                autocomplete="current-password"
                autofocus
                required
                aria-invalid=refused.then_some("true")
                aria-describedby=refused.then_some("problem")
            />
        </label>
    }
    .into_any()
}
