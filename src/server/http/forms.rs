//! Plain forms, for pages without script.

use std::sync::Arc;

use axum::extract::State;
use axum::extract::rejection::FormRejection;
use axum::http::request::Parts;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::{Extension, Form};
use serde::Deserialize;

use super::extract::Path;
use crate::domain::ids::{SessionId, TurnId};
use crate::server::error::ServiceError;
use crate::server::offers::create_as_before;
use crate::server::state::Services;
use crate::server::turns::submit::submit;
use crate::wire::error::{Failure, FailureCode};
use crate::wire::refused::RefusedPrompt;
use crate::wire::rest::{NewSession, StartTurn};

/// Makes the page that says why a message was not sent.
pub type Render = Arc<dyn Fn(Parts, RefusedPrompt) -> String + Send + Sync>;

/// Makes a conversation for a page without script, and leads there, or back where it is refused.
pub async fn new_conversation(
    State(services): State<Services>,
    form: Result<Form<NewSession>, FormRejection>,
) -> Result<Redirect, ServiceError> {
    let request = match form {
        Ok(Form(request)) => request,
        // A form without fields chooses nothing.
        Err(FormRejection::InvalidFormContentType(_)) => NewSession::default(),
        Err(rejection) => return Err(not_understood(&rejection)),
    };
    match create_as_before(&services, request).await {
        Ok(session) => Ok(Redirect::to(&format!("/session/{}", session.session_id))),
        Err(error) => match error.0.code {
            FailureCode::InvalidRequest
            | FailureCode::UnknownAgent
            | FailureCode::AgentUnavailable => Ok(Redirect::to("/new?refused")),
            _ => Err(error),
        },
    }
}

#[derive(Deserialize)]
pub struct PromptForm {
    content: String,
}

/// Takes a prompt from a page without script, and leads back to its conversation. The page that was
/// rendered named the turn, so that sending the form twice is one turn. What is refused is given
/// back with the reason.
pub async fn send(
    State(services): State<Services>,
    Extension(render): Extension<Render>,
    Path((session_id, turn_id)): Path<(SessionId, TurnId)>,
    request: Parts,
    form: Result<Form<PromptForm>, FormRejection>,
) -> Response {
    let (content, understood) = match form {
        Ok(Form(form)) => (form.content.replace("\r\n", "\n"), Ok(())),
        Err(rejection) => (String::new(), Err(not_understood(&rejection))),
    };
    let back = format!("/session/{session_id}");
    let turn = StartTurn { turn_id, session_id, content, attachments: Vec::new() };
    let sent = match understood {
        Ok(()) if turn.content.trim().is_empty() => Ok(turn.session_id.clone()),
        Ok(()) => send_where_it_belongs(&services, turn.clone()).await,
        Err(error) => Err(error),
    };
    match sent {
        Ok(session_id) => Redirect::to(&format!("/session/{session_id}")).into_response(),
        Err(error) => {
            let (status, problem) = (error.status(), error.0.message);
            let action = request.uri.path().to_owned();
            let page = RefusedPrompt { problem, action, content: turn.content, back };
            (status, Html(render(request, page))).into_response()
        }
    }
}

/// Follows a conversation that was compressed after the page was rendered.
async fn send_where_it_belongs(
    services: &Services,
    mut turn: StartTurn,
) -> Result<SessionId, ServiceError> {
    match submit(services, turn.clone()).await {
        Err(ServiceError(Failure { canonical_visible_session_id: Some(target), .. })) => {
            turn.session_id = target.clone();
            submit(services, turn).await?;
            Ok(target)
        }
        sent => sent.map(|_| turn.session_id),
    }
}

fn not_understood(rejection: &FormRejection) -> ServiceError {
    ServiceError::refused(FailureCode::InvalidRequest, rejection.body_text())
}
