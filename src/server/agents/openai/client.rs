//! Requests to a model server.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use eventsource_stream::Eventsource;
use futures::{Stream, StreamExt, stream};
use reqwest::{RequestBuilder, Response};
use serde_json::Value;

use super::OpenAiSettings;
use super::problem::{Problem, words_of};
use super::reply::Reply;
use crate::server::agents::agent::Happening;
use crate::server::agents::json::{at, count, list, text};

const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// How long a server may be silent: a large prompt on a small machine takes its time.
const SILENT_FOR: Duration = Duration::from_secs(600);

const LIST_WITHIN: Duration = Duration::from_secs(5);

/// How long a server that is only looked for has to answer.
const FOUND_WITHIN: Duration = Duration::from_millis(400);

/// What says that an answer is over.
const DONE: &str = "[DONE]";

/// A model that a server offers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    pub id: String,
    pub context: Option<u64>,
}

#[derive(Clone)]
pub struct Client {
    settings: Arc<OpenAiSettings>,
    http: reqwest::Client,
}

impl Client {
    pub fn new(settings: Arc<OpenAiSettings>) -> Self {
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_WITHIN)
            .read_timeout(SILENT_FOR)
            .build()
            .unwrap_or_default();
        Self { settings, http }
    }

    /// Tells whether a model server answers.
    pub async fn is_there(&self) -> bool {
        let asked = self.with_key(self.http.get(self.address("models"))).timeout(FOUND_WITHIN);
        match asked.send().await {
            Ok(response) => match response.json::<Value>().await {
                // Other servers live at the same usual places.
                Ok(told) => told.get("data").is_some_and(Value::is_array),
                Err(_) => false,
            },
            Err(_) => false,
        }
    }

    /// Lists the models that there are.
    pub async fn models(&self) -> Result<Vec<Model>, Problem> {
        let asked = self.with_key(self.http.get(self.address("models"))).timeout(LIST_WITHIN);
        let response = accept(asked.send().await.map_err(|error| problem_of(&error))?).await?;
        let told: Value = response.json().await.map_err(|error| problem_of(&error))?;
        Ok(list(&told, "data").iter().filter_map(model).collect())
    }

    /// Asks for an answer, which comes piece by piece.
    pub async fn chat(&self, body: &Value) -> Result<Chat, Problem> {
        let asked = self.with_key(self.http.post(self.address("chat/completions"))).json(body);
        let response = accept(asked.send().await.map_err(|error| problem_of(&error))?).await?;
        let reply = Reply::default();
        if is_stream(&response) {
            let events = response.bytes_stream().eventsource();
            let data = events.map(|event| event.map(|event| event.data).map_err(drop));
            return Ok(Chat { data: Box::pin(data), reply });
        }
        // Some servers do not stream: the answer is one piece.
        let whole = response.text().await.map_err(|error| problem_of(&error))?;
        let data = stream::iter([Ok(whole), Ok(DONE.to_owned())]);
        Ok(Chat { data: Box::pin(data), reply })
    }

    fn address(&self, path: &str) -> String {
        format!("{}/{path}", self.settings.base_url.trim_end_matches('/'))
    }

    fn with_key(&self, request: RequestBuilder) -> RequestBuilder {
        match self.settings.key() {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }
}

/// An answer on its way. Dropping it tells the server to stop.
pub struct Chat {
    data: Pin<Box<dyn Stream<Item = Result<String, ()>> + Send>>,
    pub reply: Reply,
}

impl Chat {
    /// Waits for the next piece; there is none when the answer is over.
    pub async fn next(&mut self) -> Result<Option<Vec<Happening>>, Problem> {
        loop {
            let data = match self.data.next().await {
                Some(Ok(data)) => data,
                // Some servers end without a word, but not without a reason.
                None if self.reply.is_finished() => return Ok(None),
                Some(Err(())) | None => return Err(Problem::Broken),
            };
            if data.trim() == DONE {
                return Ok(None);
            }
            // What is no message is noise.
            if let Ok(chunk) = serde_json::from_str::<Value>(&data) {
                return self.reply.read(&chunk).map(Some);
            }
        }
    }
}

async fn accept(response: Response) -> Result<Response, Problem> {
    if response.status().is_success() {
        return Ok(response);
    }
    let code = response.status().as_u16();
    Err(Problem::of_reply(code, &response.text().await.unwrap_or_default()))
}

fn is_stream(response: &Response) -> bool {
    let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok());
    !kind.is_some_and(|kind| kind.starts_with("application/json"))
}

fn problem_of(error: &reqwest::Error) -> Problem {
    match error {
        error if error.is_connect() => Problem::NoServer,
        error if error.is_timeout() => Problem::Late,
        error if error.is_decode() => Problem::Strange("no message that can be read".to_owned()),
        _ => Problem::Broken,
    }
}

fn model(told: &Value) -> Option<Model> {
    let sizes = ["max_model_len", "context_length", "max_context_length", "context_window"];
    let told_in = |key: &&str| count(told, key);
    let context = sizes.iter().find_map(told_in).or_else(|| count(at(told, &["meta"])?, "n_ctx"));
    Some(Model { id: text(told, "id")?.to_owned(), context: context.filter(|size| *size > 0) })
}

/// Reads what a server says went wrong in the middle of an answer.
pub fn said_in_stream(chunk: &Value) -> Option<Problem> {
    chunk.get("error").filter(|error| !error.is_null())?;
    Some(Problem::Said(words_of(chunk).unwrap_or("no reason was given").to_owned()))
}
