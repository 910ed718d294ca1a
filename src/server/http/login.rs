//! Signing in and out, by plain forms.

use std::sync::Arc;

use axum::extract::{Extension, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::{Form, RequestExt};
use serde::Deserialize;

use super::extract::{Path, Query};
use crate::server::auth::{NotSignedIn, SignedIn, wait_words};
use crate::server::error::ServiceError;
use crate::server::state::Services;
use crate::wire::error::FailureCode;
use crate::wire::sign_in::SignIn;

/// Renders the page to sign in; only the router knows how.
pub type Render = Arc<dyn Fn(Parts, SignIn) -> String + Send + Sync>;

#[derive(Deserialize)]
pub struct Wanted {
    next: Option<String>,
    code: Option<String>,
}

/// Shows the page to sign in, or leads on where that is not needed.
pub async fn page(
    State(services): State<Services>,
    Extension(render): Extension<Render>,
    Query(Wanted { next, code }): Query<Wanted>,
    parts: Parts,
) -> Response {
    let page = SignIn { code, ..SignIn::on_to(next) };
    let auth = &services.auth;
    let known = auth.identify(&parts.headers, &parts.extensions).await.is_ok();
    if !auth.is_required() || known {
        return Redirect::to(&page.next).into_response();
    }
    Html(render(parts, page)).into_response()
}

#[derive(Deserialize)]
pub struct PasswordForm {
    password: String,
    next: Option<String>,
}

pub async fn sign_in(
    State(services): State<Services>,
    Extension(render): Extension<Render>,
    request: axum::extract::Request,
) -> Result<Response, ServiceError> {
    let (parts, form) = form::<PasswordForm>(request).await?;
    let page = SignIn::on_to(form.next);
    let signed_in = services.auth.sign_in(&parts, form.password).await;
    lead_on(signed_in, parts, page, &render, "That is not the password.")
}

#[derive(Deserialize)]
pub struct CodeForm {
    code: String,
    next: Option<String>,
}

pub async fn pair(
    State(services): State<Services>,
    Extension(render): Extension<Render>,
    request: axum::extract::Request,
) -> Result<Response, ServiceError> {
    let (parts, form) = form::<CodeForm>(request).await?;
    let page = SignIn::on_to(form.next);
    let signed_in = services.auth.pair(&parts, &form.code).await;
    let words = "This code was used already, or is older than five minutes. Make a new one with \
                 `throughline pair`, or sign in with the password.";
    lead_on(signed_in, parts, page, &render, words)
}

/// Signs out the device that asks.
pub async fn sign_out(
    State(services): State<Services>,
    who: Option<Extension<SignedIn>>,
    headers: HeaderMap,
) -> Result<Response, ServiceError> {
    if let Some(Extension(SignedIn::Device(id))) = who {
        services.auth.sign_out(&id).await?;
    }
    Ok(with_cookie(
        Redirect::to("/login").into_response(),
        &services.auth.forgetting_cookie(&headers),
    ))
}

/// Signs out another device, and leads back to the list of them.
pub async fn revoke(
    State(services): State<Services>,
    Path(id): Path<String>,
) -> Result<Redirect, ServiceError> {
    services.auth.sign_out(&id).await?;
    Ok(Redirect::to("/settings"))
}

async fn form<T: for<'de> Deserialize<'de> + Send + 'static>(
    request: axum::extract::Request,
) -> Result<(Parts, T), ServiceError> {
    let (parts, body) = request.into_parts();
    let request = axum::extract::Request::from_parts(parts.clone(), body);
    let Form(form) =
        request.extract().await.map_err(|_: axum::extract::rejection::FormRejection| {
            ServiceError::refused(FailureCode::InvalidRequest, "The form was not understood.")
        })?;
    Ok((parts, form))
}

fn lead_on(
    signed_in: Result<String, NotSignedIn>,
    parts: Parts,
    page: SignIn,
    render: &Render,
    wrong: &str,
) -> Result<Response, ServiceError> {
    let (status, problem, wait) = match signed_in {
        Ok(cookie) => return Ok(with_cookie(Redirect::to(&page.next).into_response(), &cookie)),
        Err(NotSignedIn::Failed(error)) => return Err(error),
        Err(NotSignedIn::Wrong) => (StatusCode::UNAUTHORIZED, wrong.to_owned(), None),
        Err(NotSignedIn::Wait(wait)) => {
            let words = format!("Too many attempts. {}.", wait_words(wait));
            (StatusCode::TOO_MANY_REQUESTS, words, Some(wait.as_secs() + 1))
        }
    };
    let page = SignIn { problem: Some(problem), ..page };
    let mut response = (status, Html(render(parts, page))).into_response();
    if let Some(seconds) = wait {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    Ok(response)
}

fn with_cookie(mut response: Response, cookie: &str) -> Response {
    if let Ok(cookie) = HeaderValue::from_str(cookie) {
        response.headers_mut().append(header::SET_COOKIE, cookie);
    }
    response
}
