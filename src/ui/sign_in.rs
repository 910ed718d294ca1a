//! The page to sign in: a document of its own, plain HTML, with nothing of the app behind it.

use leptos::prelude::*;

use crate::ui::platform;
use crate::wire::sign_in::SignIn;

/// Renders the whole document.
pub fn sign_in_document(style: String, page: SignIn) -> AnyView {
    let SignIn { next, code, problem } = page;
    let paired = code.is_some();
    let title = if paired { "Sign this device in" } else { "Sign in" };
    let action = if paired { "/pair" } else { "/login" };
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
                <main class="sign-in">
                    <img src="/icon.svg" alt="" width="64" height="64" />
                    <h1>{title}</h1>
                    <form method="post" action=action>
                        <input r#type="hidden" name="next" value=next />
                        {match code {
                            Some(code) => {
                                view! { <input r#type="hidden" name="code" value=code /> }
                                    .into_any()
                            }
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
                </main>
            </body>
        </html>
    }
    .into_any()
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
