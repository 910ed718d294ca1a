//! Takes connections, within bounds.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tower::ServiceExt;

/// How many connections there may be; further ones wait. Many systems give a process 1,024 files.
const MOST_CONNECTIONS: u32 = 640;

/// How long a connection may take to say what it wants.
const HEAD_WITHIN: Duration = Duration::from_secs(30);

/// How long the head of a request may be, with all of its fields.
const LARGEST_HEAD: usize = 64 << 10;

const MOST_FIELDS: usize = 100;

/// How long to wait when no connection can be taken, such as for want of files.
const AFTER_TROUBLE: Duration = Duration::from_millis(200);

/// Keeps a connection's place taken for as long as anything of it is held.
#[derive(Clone)]
pub struct Place {
    _permit: Arc<OwnedSemaphorePermit>,
}

/// Serves until `shutdown`, then lets what is under way come to its end.
pub async fn serve(listener: TcpListener, router: Router, shutdown: impl Future<Output = ()>) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS as usize));
    let (stop, stopped) = watch::channel(());
    let accept = async {
        loop {
            let Ok(permit) = places.clone().acquire_owned().await else { return };
            match listener.accept().await {
                Ok((stream, peer)) => {
                    let caller = Caller { peer, place: Place { _permit: Arc::new(permit) } };
                    tokio::spawn(take(stream, caller, router.clone(), stopped.clone()));
                }
                Err(error) => {
                    tracing::debug!(%error, "a connection could not be taken");
                    tokio::time::sleep(AFTER_TROUBLE).await;
                }
            }
        }
    };
    tokio::select! {
        () = accept => {}
        () = shutdown => {}
    }
    drop(stop);
    // All places are free again once the last connection has ended.
    let _ = places.acquire_many(MOST_CONNECTIONS).await;
}

#[derive(Clone)]
struct Caller {
    peer: SocketAddr,
    place: Place,
}

async fn take(stream: TcpStream, caller: Caller, router: Router, mut stopped: watch::Receiver<()>) {
    // A socket that refuses this is only slower.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| answer(router.clone(), caller.clone(), request));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_WITHIN)
        .max_buf_size(LARGEST_HEAD)
        .max_headers(MOST_FIELDS)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = &mut connection => ended,
        _ = stopped.changed() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

async fn answer(
    router: Router,
    caller: Caller,
    mut request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    request.extensions_mut().insert(ConnectInfo(caller.peer));
    request.extensions_mut().insert(caller.place);
    router.oneshot(request.map(Body::new)).await
}
