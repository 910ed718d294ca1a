//! A model server that speaks in the ways of real ones: what it does is said by the last prompt.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Json;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use futures::{Stream, StreamExt, stream};
use serde_json::{Value, json};
use throughline::server::agents::openai::OpenAiSettings;
use throughline::server::config::{AgentEntry, AgentKind};
use tokio::net::TcpListener;

/// Whose habits a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// Calls come whole, without numbers or ids; reasoning is `reasoning`.
    Ollama,
    /// Calls come in pieces; the end comes without a word; comments between.
    LlamaCpp,
    /// Knows the size of the context; refuses tools and, first of all, to count.
    Vllm,
    /// Does not stream.
    Whole,
}

#[derive(Clone)]
pub struct FakeModel {
    pub base_url: String,
    dialect: Dialect,
    /// How many answers are being streamed.
    pub streaming: Arc<AtomicUsize>,
}

impl FakeModel {
    pub async fn start(dialect: Dialect) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let model = Self { base_url, dialect, streaming: Arc::default() };
        let routes = Router::new()
            .route("/v1/models", get(models))
            .route("/v1/chat/completions", post(chat))
            .with_state(model.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        model
    }

    pub fn settings(&self) -> OpenAiSettings {
        OpenAiSettings {
            id: "model".to_owned(),
            name: "Model".to_owned(),
            base_url: self.base_url.clone(),
            ..OpenAiSettings::default()
        }
    }
}

pub fn entry(settings: OpenAiSettings) -> AgentEntry {
    AgentEntry { id: settings.id.clone(), kind: AgentKind::OpenAi(settings), folder: None }
}

async fn models(State(model): State<FakeModel>) -> Json<Value> {
    let size = |id: &str| match model.dialect {
        Dialect::Vllm => json!({ "id": id, "max_model_len": 1000 }),
        Dialect::LlamaCpp => json!({ "id": id, "meta": { "n_ctx": 2000 } }),
        _ => json!({ "id": id, "object": "model" }),
    };
    Json(json!({ "object": "list", "data": [size("small"), size("large")] }))
}

/// Counts an answer as long as it is being streamed.
struct Streaming(Arc<AtomicUsize>);

impl Drop for Streaming {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn chat(
    State(model): State<FakeModel>,
    headers: HeaderMap,
    Json(asked): Json<Value>,
) -> Response {
    let refuse =
        |code: u16, body: Value| (StatusCode::from_u16(code).unwrap(), Json(body)).into_response();
    if model.dialect == Dialect::Vllm && asked.get("stream_options").is_some() {
        let detail = json!({ "detail": "extra fields not permitted: stream_options" });
        return refuse(422, detail);
    }
    if model.dialect == Dialect::Vllm && asked.get("tools").is_some() {
        let message = "\"auto\" tool choice requires --enable-auto-tool-choice";
        return refuse(400, json!({ "object": "error", "message": message, "code": 400 }));
    }
    let messages = asked["messages"].as_array().unwrap();
    let last = messages.last().unwrap();
    let mut people = messages.iter().filter(|message| message["role"] == "user");
    let prompt = people.next_back().and_then(|it| it["content"].as_str()).unwrap_or("pictures");
    let (word, rest) = prompt.split_once(' ').unwrap_or((prompt, ""));
    let pieces = match (word, last["role"].as_str()) {
        (_, Some("tool")) => says(&format!("It gave: {}", last["content"].as_str().unwrap())),
        ("say", _) => says(rest),
        ("model", _) => says(asked["model"].as_str().unwrap()),
        ("messages", _) => says(&asked["messages"].to_string()),
        ("key", _) => {
            says(headers.get("authorization").map_or("none", |key| key.to_str().unwrap()))
        }
        ("pictures", _) => says(&last["content"].to_string()),
        ("Summarise", _) => says("It was about apples."),
        ("think", _) => {
            let key =
                if model.dialect == Dialect::Ollama { "reasoning" } else { "reasoning_content" };
            let mut pieces = vec![json!({ key: "Let me see." })];
            pieces.extend(says("Yes."));
            pieces
        }
        ("tool", _) => calls(model.dialect, rest),
        ("status", _) => {
            let error = json!({ "error": { "message": "the reason is told", "type": "x" } });
            return refuse(rest.parse().unwrap(), error);
        }
        ("break", _) => return cut_off(),
        ("fail", _) => return fails(),
        ("forever", _) => return forever(&model),
        other => panic!("{other:?} is no part of this play"),
    };
    answer(model.dialect, pieces, asked.get("stream_options").is_some())
}

fn says(words: &str) -> Vec<Value> {
    words.split_inclusive(' ').map(|word| json!({ "content": word })).collect()
}

/// Makes the pieces of one call to a tool: its name, a blank and its arguments.
fn calls(dialect: Dialect, wanted: &str) -> Vec<Value> {
    let (name, arguments) = wanted.split_once(' ').unwrap();
    let whole = json!({ "name": name, "arguments": arguments });
    if dialect != Dialect::LlamaCpp {
        return vec![json!({ "content": "", "tool_calls": [{ "id": "", "function": whole }] })];
    }
    let (first, second) = arguments.split_at(arguments.len() / 2);
    let begin = json!({ "index": 0, "id": "abc", "type": "function",
                        "function": { "name": name, "arguments": "" } });
    let rest = |piece: &str| json!({ "index": 0, "function": { "arguments": piece } });
    let piece = |call: Value| json!({ "content": null, "tool_calls": [call] });
    vec![piece(begin), piece(rest(first)), piece(rest(second))]
}

fn answer(dialect: Dialect, pieces: Vec<Value>, counts: bool) -> Response {
    let usage = json!({ "prompt_tokens": 11, "completion_tokens": 3, "total_tokens": 14 });
    if dialect == Dialect::Whole {
        let words: String = pieces.iter().filter_map(|piece| piece["content"].as_str()).collect();
        let choice = json!({ "message": { "role": "assistant", "content": words }, "finish_reason": "stop" });
        return Json(json!({ "choices": [choice], "usage": usage })).into_response();
    }
    let mut lines: Vec<_> = pieces.iter().map(chunk).collect();
    let end =
        json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }], "timings": {} });
    lines.push(format!("data: {end}\n\n"));
    if dialect == Dialect::LlamaCpp {
        lines.insert(0, ": keep-alive\n\n".to_owned());
    }
    if counts {
        lines.push(format!("data: {}\n\n", json!({ "choices": [], "usage": usage })));
    }
    if dialect != Dialect::LlamaCpp {
        lines.push("data: [DONE]\n\n".to_owned());
    }
    streamed(stream::iter(lines))
}

fn chunk(delta: &Value) -> String {
    let choice = json!({ "index": 0, "delta": delta, "finish_reason": null });
    format!("data: {}\n\n", json!({ "choices": [choice] }))
}

fn cut_off() -> Response {
    streamed(stream::iter([chunk(&json!({ "content": "half an" }))]))
}

fn fails() -> Response {
    let error = json!({ "error": { "message": "out of memory", "code": 500 } });
    streamed(stream::iter([chunk(&json!({ "content": "half an" })), format!("data: {error}\n\n")]))
}

fn forever(model: &FakeModel) -> Response {
    model.streaming.fetch_add(1, Ordering::SeqCst);
    let counted = Streaming(Arc::clone(&model.streaming));
    streamed(stream::unfold(counted, |counted| async move {
        tokio::time::sleep(Duration::from_millis(5)).await;
        Some((chunk(&json!({ "content": "on " })), counted))
    }))
}

fn streamed(lines: impl Stream<Item = String> + Send + 'static) -> Response {
    let body = Body::from_stream(lines.map(Ok::<_, Infallible>));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}
