//! The WebSocket door: one connection a tab, many sessions in it.

mod outgoing;

use std::collections::HashMap;
use std::pin::pin;
use std::sync::MutexGuard;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Extension, State};
use axum::response::Response;
use futures::stream::SplitSink;
use futures::{SinkExt, StreamExt};
use serde_json::value::to_raw_value;
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use self::outgoing::{Line, Rows, Watched, meta_of};
use crate::domain::ids::{CommandId, SessionId};
use crate::server::auth::SignedIn;
use crate::server::conversations;
use crate::server::error::ServiceError;
use crate::server::listen::Place;
use crate::server::lists::PAGE;
use crate::server::lock::lock;
use crate::server::sessions::{SessionError, TaskCommand};
use crate::server::state::Services;
use crate::server::turns::answer::answer;
use crate::server::turns::submit::submit;
use crate::wire::error::{Failure, FailureCode};
use crate::wire::rest::StartTurn;
use crate::wire::socket::{
    ClientFrame, Command, LARGEST_FRAME, Level, Meta, PROTOCOL, ServerFrame, Subscription,
};

/// How many frames may wait for a slow reader before its sessions' events are dropped for it.
const FRAMES_WAITING: usize = 256;

/// A connection that keeps sending nonsense is closed.
const BAD_FRAMES: u32 = 8;

const PING_EVERY_MS: u32 = 20_000;

pub async fn upgrade(
    State(services): State<Services>,
    who: Option<Extension<SignedIn>>,
    place: Option<Extension<Place>>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let who = who.map(|who| who.0);
    let upgrade = upgrade.max_message_size(LARGEST_FRAME).max_frame_size(LARGEST_FRAME);
    upgrade.on_upgrade(async move |socket| {
        let _place = place;
        serve(services, who, socket).await;
    })
}

async fn serve(services: Services, who: Option<SignedIn>, socket: WebSocket) {
    let mut signed_out = pin!(services.auth.clone().until_signed_out(who));
    let (sink, mut incoming) = socket.split();
    let (frames, waiting) = mpsc::channel(FRAMES_WAITING);
    let writer = AbortOnDropHandle::new(tokio::spawn(write_frames(sink, waiting)));
    let mut connection = Connection::new(services, frames);
    loop {
        let message = tokio::select! {
            message = incoming.next() => message,
            // It missed changes of its list: on its return it fetches the list anew.
            () = connection.list_ended() => break,
            () = &mut signed_out => break,
        };
        let Some(Ok(message)) = message else { break };
        let text = match message {
            Message::Text(text) => text,
            Message::Close(_) => break,
            Message::Binary(_) => {
                if connection.refuse("Only text frames are understood.").await.is_err() {
                    break;
                }
                continue;
            }
            Message::Ping(_) | Message::Pong(_) => continue,
        };
        if connection.take(&text).await.is_err() {
            break;
        }
    }
    // Frames already queued, such as the reason for closing, still go out.
    drop(connection);
    let _ = tokio::time::timeout(Duration::from_secs(1), writer).await;
}

async fn write_frames(
    mut sink: SplitSink<WebSocket, Message>,
    mut waiting: mpsc::Receiver<ServerFrame>,
) {
    while let Some(frame) = waiting.recv().await {
        let Ok(text) = serde_json::to_string(&frame) else {
            continue;
        };
        if sink.send(Message::text(text)).await.is_err() {
            return;
        }
    }
    let _ = sink.close().await;
}

/// Means that the connection is at its end.
struct Closed;

struct Connection {
    services: Services,
    frames: mpsc::Sender<ServerFrame>,
    feeds: HashMap<SessionId, AbortOnDropHandle<()>>,
    watched: Watched,
    /// Set by `hello`: before it, nothing else is answered.
    list: Option<AbortOnDropHandle<()>>,
    bad_frames: u32,
}

impl Connection {
    fn new(services: Services, frames: mpsc::Sender<ServerFrame>) -> Self {
        let (feeds, watched) = (HashMap::new(), Watched::default());
        Self { services, frames, feeds, watched, list: None, bad_frames: 0 }
    }

    async fn list_ended(&mut self) {
        match &mut self.list {
            // However it ended, no change of a row comes through any more.
            Some(list) => drop(list.await),
            None => std::future::pending().await,
        }
    }

    fn watched(&self) -> MutexGuard<'_, HashMap<SessionId, Option<Meta>>> {
        lock(&self.watched)
    }

    async fn send(&self, frame: ServerFrame) -> Result<(), Closed> {
        self.frames.send(frame).await.map_err(|_| Closed)
    }

    async fn take(&mut self, text: &str) -> Result<(), Closed> {
        let frame: ClientFrame = match serde_json::from_str(text) {
            Ok(frame) => frame,
            Err(error) => {
                tracing::debug!(%error, "a frame was not understood");
                return self.refuse("This frame was not understood.").await;
            }
        };
        match frame {
            ClientFrame::Hello { protocol, subscriptions } => {
                self.greet(protocol, subscriptions).await
            }
            _ if self.list.is_none() => self.refuse("Say hello first.").await,
            ClientFrame::Subscribe(subscription) => self.subscribe(subscription).await,
            ClientFrame::Unsubscribe { session_id } => {
                self.forget(&session_id);
                Ok(())
            }
            ClientFrame::RpcCommand { session_id, command_id, command } => {
                self.command(session_id, command_id, command).await
            }
            ClientFrame::RpcPing { ts } => self.send(ServerFrame::RpcPong { ts }).await,
        }
    }

    async fn complain(
        &self,
        failure: Failure,
        session_id: Option<SessionId>,
    ) -> Result<(), Closed> {
        let Failure { code, message, .. } = failure;
        self.send(ServerFrame::Error { code, message, session_id, command_id: None }).await
    }

    async fn refuse(&mut self, message: &str) -> Result<(), Closed> {
        self.bad_frames += 1;
        self.complain(Failure::new(FailureCode::InvalidRequest, message), None).await?;
        if self.bad_frames >= BAD_FRAMES { Err(Closed) } else { Ok(()) }
    }

    async fn greet(
        &mut self,
        protocol: u32,
        subscriptions: Vec<Subscription>,
    ) -> Result<(), Closed> {
        if protocol != PROTOCOL {
            self.refuse("This page is of another version: reload it.").await?;
            return Err(Closed);
        }
        let changes = self.services.registry.board().watch();
        let rows = Rows {
            registry: self.services.registry.clone(),
            watched: self.watched.clone(),
            frames: self.frames.clone(),
        };
        self.list = Some(AbortOnDropHandle::new(tokio::spawn(async move {
            // The receiver of frames is gone, and with it the reason to go on.
            let _ = rows.forward(changes).await;
        })));
        let epoch = self.services.registry.epoch().clone();
        self.send(ServerFrame::Welcome { protocol, epoch, ping_every_ms: PING_EVERY_MS }).await?;
        for subscription in subscriptions {
            self.subscribe(subscription).await?;
        }
        Ok(())
    }

    /// Sends nothing more of a session.
    fn forget(&mut self, session_id: &SessionId) {
        self.feeds.remove(session_id);
        self.watched().remove(session_id);
    }

    async fn subscribe(&mut self, subscription: Subscription) -> Result<(), Closed> {
        let Subscription { session_id, level, cursor } = subscription;
        self.forget(&session_id);
        if level == Level::Meta {
            return self.subscribe_meta(session_id).await;
        }
        let feed = match self.services.registry.subscribe(&session_id, cursor).await {
            Ok(feed) => feed,
            Err(SessionError::NotFound) => {
                return self.send(ServerFrame::RpcSessionNotFound { session_id }).await;
            }
            Err(error) => {
                return self.complain(ServiceError::from(error).0, Some(session_id)).await;
            }
        };
        let registry = self.services.registry.clone();
        let line = Line { session_id: session_id.clone(), registry, frames: self.frames.clone() };
        let forward = AbortOnDropHandle::new(tokio::spawn(async move {
            // The receiver of frames is gone, and with it the reason to go on.
            let _ = line.forward(feed).await;
        }));
        self.feeds.insert(session_id, forward);
        Ok(())
    }

    /// Tells the state of a row now, and each time that it changes.
    async fn subscribe_meta(&mut self, session_id: SessionId) -> Result<(), Closed> {
        self.watched().insert(session_id.clone(), None);
        match conversations::row(&self.services, &session_id).await {
            Ok(row) => {
                let seq = self.services.registry.latest_seq(&session_id);
                self.send(ServerFrame::SessionMeta(meta_of(&row, seq))).await
            }
            Err(error) if error.0.code == FailureCode::SessionNotFound => {
                self.forget(&session_id);
                self.send(ServerFrame::RpcSessionNotFound { session_id }).await
            }
            Err(error) => self.complain(error.0, Some(session_id)).await,
        }
    }

    async fn command(
        &mut self,
        session_id: SessionId,
        command_id: CommandId,
        command: Command,
    ) -> Result<(), Closed> {
        let services = &self.services;
        let outcome = match command {
            // The turn id makes a prompt idempotent, and reading changes nothing.
            Command::Prompt { turn_id, content, attachments } => {
                let session_id = session_id.clone();
                let turn = StartTurn { turn_id, session_id, content, attachments };
                submit(services, turn).await.map(|receipt| to_raw_value(&receipt).ok())
            }
            Command::GetState => {
                let transcript = services.registry.transcript(&session_id, PAGE).await;
                transcript.map(|found| to_raw_value(&found).ok()).map_err(ServiceError::from)
            }
            command => {
                let execute = async {
                    execute(services, &session_id, command).await.map_err(|error| error.0)
                };
                let outcome = services.commands.once(&session_id, &command_id, execute).await;
                outcome.map(|()| None).map_err(ServiceError)
            }
        };
        let (ok, data, error) = match outcome {
            Ok(data) => (true, data, None),
            Err(ServiceError(failure)) => (false, None, Some(failure)),
        };
        self.send(ServerFrame::RpcResponse { session_id, command_id, ok, data, error }).await
    }
}

/// Executes a command that changes something.
async fn execute(
    services: &Services,
    id: &SessionId,
    command: Command,
) -> Result<(), ServiceError> {
    let registry = &services.registry;
    match command {
        // Answered with data of their own.
        Command::Prompt { .. } | Command::GetState => {}
        Command::Cancel => registry.ask(id, TaskCommand::Cancel).await??,
        Command::Withdraw { turn_id } => {
            registry.ask(id, |reply| TaskCommand::Withdraw { turn_id, reply }).await??;
        }
        Command::Answer { request_id, option } => answer(services, id, request_id, option).await?,
        Command::Compress => registry.ask(id, TaskCommand::Compress).await??,
        Command::Seen => conversations::mark_seen(services, id).await?,
        Command::SetOption { name, value } => {
            registry.ask(id, |reply| TaskCommand::SetOption { name, value, reply }).await??;
        }
    }
    Ok(())
}
