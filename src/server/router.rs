//! The one table of routes.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::extract::{DefaultBodyLimit, FromRef, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};
use leptos::context::provide_context;
use leptos::prelude::{AnyView, Owner, RenderHtml};
use leptos_axum::{AxumRouteListing, LeptosRoutes, generate_route_list};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{DefaultPredicate, NotForContentType, Predicate};
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;

use super::auth::gate::gate;
use super::auth::guard::guard;
use super::blobs::LARGEST_BLOB;
use super::headers::{self, PERMISSIONS, PERMISSIONS_POLICY, PLAIN_POLICY};
use super::http::{agents, dev, entry, events, forms, lists, login, recovery, rest, rpc, ws};
use super::state::{AppState, Services};
use crate::ui::app::{App, ShellAssets, shell as document};
use crate::ui::refused::refused_document;
use crate::ui::sign_in::sign_in_document;

/// The largest request body, attachments apart.
const LARGEST_BODY: usize = 1 << 20;

/// How long an answer may take to begin. Sockets and streams of events begin at once.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// How long an attachment may take to arrive.
const UPLOAD_WITHIN: Duration = Duration::from_secs(900);

pub fn router(state: AppState) -> anyhow::Result<Router> {
    let services = state.services.clone();
    let door = rpc::Door::new(services.clone())?;
    let rpc = post(move |request: Request| door.clone().answer(request));
    let mut router = Router::new().merge(pages(&state)).merge(doors()).route("/rpc", rpc);
    if services.config.dev {
        router =
            router.route("/dev/reload", get(dev::reload)).route("/dev/reload.js", get(dev::script));
    }
    Ok(router
        .fallback(elsewhere)
        .method_not_allowed_fallback(rest::method_not_allowed)
        .with_state(state.clone())
        .layer(within(ANSWER_WITHIN))
        .merge(uploads(state))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(Extension(sign_in_page(&services)))
        .layer(Extension(refused_page(&services)))
        .layer(from_fn_with_state(services.clone(), entry::canonical_address))
        .layer(from_fn_with_state(services.clone(), gate))
        .layer(from_fn_with_state(services, guard))
        .layer(CompressionLayer::new().compress_when(worth_compressing()))
        .layer(fixed(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(fixed(header::X_FRAME_OPTIONS, "DENY"))
        .layer(fixed(header::REFERRER_POLICY, "same-origin"))
        .layer(fixed(PERMISSIONS_POLICY, PERMISSIONS))
        .layer(fixed(headers::OPENER_POLICY, "same-origin"))
        .layer(fixed(headers::RESOURCE_POLICY, "same-origin"))
        .layer(SetResponseHeaderLayer::if_not_present(
            header::CONTENT_SECURITY_POLICY,
            HeaderValue::from_static(PLAIN_POLICY),
        ))
        .layer(SetResponseHeaderLayer::if_not_present(
            header::CACHE_CONTROL,
            HeaderValue::from_static("no-store"),
        ))
        .layer(CatchPanicLayer::custom(after_panic))
        .layer(TraceLayer::new_for_http().make_span_with(span)))
}

/// REST, plain forms, the socket and what watches over them.
fn doors() -> Router<AppState> {
    Router::new()
        .route("/api/sessions", get(lists::list_sessions))
        .route("/api/sessions/counts", get(lists::counts))
        .route("/api/sessions/overview", get(lists::overview))
        .route("/api/sessions/tree", get(lists::trees))
        .route("/api/sessions/new", post(rest::new_session))
        .route(
            "/api/sessions/{id}",
            get(rest::get_session).patch(rest::patch_session).delete(rest::delete_session),
        )
        .route("/api/sessions/{id}/restore", post(rest::restore_session))
        .route("/api/sessions/{id}/children", get(lists::children))
        .route("/api/sessions/{id}/tree", get(lists::tree))
        .route("/api/search", get(lists::search))
        .route("/api/events", get(events::events))
        .route("/api/sessions/{id}/resolve", get(rest::resolve_session))
        .route("/api/sessions/{id}/fork", post(rest::fork_session))
        .route("/api/sessions/{id}/compress", post(rest::compress_session))
        .route("/api/sessions/{id}/agent", get(agents::facts))
        .route("/api/sessions/{id}/agent/messages", get(agents::messages))
        .route("/api/agents", get(agents::list))
        .route("/api/agents/{id}/conversations", get(agents::earlier))
        .route("/api/import", post(agents::bring_in))
        .route("/api/folders", get(agents::folders))
        .route("/api/chat/start", post(rest::start_turn))
        .route("/api/blobs/{sha256}", get(rest::get_blob))
        .route("/api/session/recovery/audit", get(recovery::audit))
        .route("/api/session/recovery/repair", post(recovery::repair))
        .route("/api/session/turn-journal", get(recovery::turn_journal))
        .route("/api/rpc/sessions", get(rest::running_sessions))
        .route("/new", post(forms::new_conversation))
        .route("/session/{id}/send/{turn_id}", post(forms::send))
        .route("/login", get(login::page).post(login::sign_in))
        .route("/pair", get(login::page).post(login::pair))
        .route("/logout", post(login::sign_out))
        .route("/devices/{id}/revoke", post(login::revoke))
        .route("/ws", get(ws::upgrade))
        .route("/healthz", get(rest::healthz))
}

/// Attachments, which may be larger and take longer than all else.
fn uploads(state: AppState) -> Router {
    Router::new()
        .route("/api/blobs", post(rest::add_blob).layer(DefaultBodyLimit::max(LARGEST_BLOB)))
        .method_not_allowed_fallback(rest::method_not_allowed)
        .layer(within(UPLOAD_WITHIN))
        .with_state(state)
}

fn within(time: Duration) -> TimeoutLayer {
    TimeoutLayer::with_status_code(StatusCode::REQUEST_TIMEOUT, time)
}

/// Names a request in the log without its query, which may hold words or a code of its sender.
fn span(request: &Request) -> tracing::Span {
    tracing::debug_span!("request", method = %request.method(), path = request.uri().path())
}

fn sign_in_page(services: &Services) -> login::Render {
    plain_page(services, sign_in_document)
}

fn refused_page(services: &Services) -> forms::Render {
    plain_page(services, refused_document)
}

/// Renders a document that has nothing of the app behind it.
fn plain_page<T: 'static>(
    services: &Services,
    document: fn(String, T) -> AnyView,
) -> Arc<dyn Fn(Parts, T) -> String + Send + Sync> {
    let style = services.assets.page.style.clone();
    Arc::new(move |request: Parts, page: T| {
        Owner::new().with(|| {
            provide_context(request);
            document(style.clone(), page).to_html()
        })
    })
}

/// The app's own pages and the functions they call.
fn pages(state: &AppState) -> Router<AppState> {
    let services = state.services.clone();
    let shell = shell(&services);
    let provide = move || provide_context(services.clone());
    Router::new().leptos_routes_with_context(state, app_routes(), provide, shell)
}

/// Returns the app's routes, generated once per process. Generating them sets a process-wide flag of
/// `leptos_server`, and a resource that is first polled meanwhile is never loaded: a second server
/// in the same process must not generate the list again.
fn app_routes() -> Vec<AxumRouteListing> {
    static ROUTES: OnceLock<Vec<AxumRouteListing>> = OnceLock::new();
    ROUTES.get_or_init(|| generate_route_list(App)).clone()
}

fn shell(services: &Services) -> impl Fn() -> AnyView + Clone + Send + 'static {
    let page = services.assets.page.clone();
    let assets = ShellAssets {
        script: page.script,
        glue: page.glue,
        module: page.module,
        style: page.style,
        parts: page.parts,
        dev: services.config.dev,
    };
    move || {
        headers::protect_page();
        document(assets.clone())
    }
}

/// Serves a file of the app, or says in the caller's own terms that nothing is here.
async fn elsewhere(State(state): State<AppState>, request: Request) -> Response {
    let services = Services::from_ref(&state);
    let path = request.uri().path();
    if let Some(response) = services.assets.serve(path, request.headers()) {
        return response;
    }
    if ["/api/", "/fn/", "/pkg/"].iter().any(|prefix| path.starts_with(prefix)) {
        return rest::not_found().await.into_response();
    }
    let shell = shell(&services);
    let provide = move || provide_context(services.clone());
    leptos_axum::render_app_async_with_context(provide, shell)(request).await.into_response()
}

/// Leaves the browser module alone: a release holds it compressed, and a debug build's would take
/// seconds each time.
fn worth_compressing() -> impl Predicate {
    DefaultPredicate::new().and(NotForContentType::const_new("application/wasm"))
}

fn fixed(name: HeaderName, value: &'static str) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
}

fn after_panic(_: Box<dyn std::any::Any + Send>) -> Response {
    use super::error::ServiceError;
    use crate::wire::error::FailureCode;
    tracing::error!("a handler panicked");
    ServiceError::refused(FailureCode::Internal, "Something went wrong on the server.")
        .into_response()
}
