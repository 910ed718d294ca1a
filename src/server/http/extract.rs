//! Extractors whose refusals speak our error shape.

use axum::Json;
use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts};
use axum::http::StatusCode;

use crate::server::error::ServiceError;
use crate::wire::error::FailureCode;

/// A JSON body.
#[derive(FromRequest)]
#[from_request(via(Json), rejection(ServiceError))]
pub struct Body<T>(pub T);

/// The variables of the path.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(ServiceError))]
pub struct Path<T>(pub T);

/// The query of the address.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(ServiceError))]
pub struct Query<T>(pub T);

impl From<JsonRejection> for ServiceError {
    fn from(rejection: JsonRejection) -> Self {
        match rejection {
            JsonRejection::MissingJsonContentType(_) => Self::refused(
                FailureCode::UnsupportedMediaType,
                "Send the request as application/json.",
            ),
            JsonRejection::JsonDataError(error) => {
                Self::refused(FailureCode::InvalidRequest, error.body_text())
            }
            other if other.status() == StatusCode::PAYLOAD_TOO_LARGE => {
                Self::refused(FailureCode::TooLarge, "The request is too large.")
            }
            other => Self::refused(FailureCode::InvalidRequest, other.body_text()),
        }
    }
}

impl From<PathRejection> for ServiceError {
    fn from(_: PathRejection) -> Self {
        Self::refused(FailureCode::InvalidId, "This is not a valid id.")
    }
}

impl From<QueryRejection> for ServiceError {
    fn from(rejection: QueryRejection) -> Self {
        Self::refused(FailureCode::InvalidRequest, rejection.body_text())
    }
}
