//! One turn of a model: it answers or uses tools, again and again, until it has nothing more to do.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::OpenAi;
use super::history::History;
use super::permission::Permissions;
use super::problem::Problem;
use super::reply::Reply;
use super::tools;
use crate::domain::message::{NoticeLevel, Usage};
use crate::server::agents::agent::Happening;
use crate::server::agents::trace::Trace;
use crate::server::agents::workspace::Workspace;
use crate::server::lock::lock;
use crate::wire::rest::Speaker;

/// How many steps a turn may take.
const STEPS: usize = 60;

/// What a server was found not to understand.
#[derive(Debug, Clone, Copy, Default)]
pub struct Dialect {
    pub without_tools: bool,
    pub without_counts: bool,
}

/// What a turn shares with the conversation that it belongs to.
#[derive(Debug, Default)]
pub struct Shared {
    pub history: History,
    pub permissions: Permissions,
    pub dialect: Dialect,
    pub usage: Usage,
}

/// A turn under way. Dropping it stops everything that it does.
pub struct Work {
    pub openai: OpenAi,
    pub model: String,
    pub context: Option<u64>,
    pub workspace: Workspace,
    pub shared: Arc<Mutex<Shared>>,
    pub happenings: mpsc::Sender<Happening>,
    pub trace: Trace,
}

impl Work {
    /// Goes on until the model has nothing more to do.
    pub async fn run(&self) -> Result<(), Problem> {
        for _ in 0..STEPS {
            let messages = lock(&self.shared).history.messages();
            let reply = self.ask(messages).await?;
            if reply.calls.is_empty() {
                lock(&self.shared).history.add(reply.message());
                if reply.finish.as_deref() == Some("length") {
                    let words = "The answer ends here: it reached the longest length allowed.";
                    self.notice(NoticeLevel::Info, words).await;
                }
                return Ok(());
            }
            // A model wants a result for each call that it made, so they are told together.
            let mut results = Vec::new();
            for (place, call) in reply.calls.iter().enumerate() {
                let content = self.use_tool(place, call).await;
                results
                    .push(json!({ "role": "tool", "tool_call_id": call.id, "content": content }));
            }
            let mut shared = lock(&self.shared);
            shared.history.add(reply.message());
            results.into_iter().for_each(|result| shared.history.add(result));
        }
        let words = "The model stopped here: it took as many steps as it is allowed.";
        self.notice(NoticeLevel::Warning, words).await;
        Ok(())
    }

    /// Asks for a summary of all that was said.
    pub async fn summarise(&self) -> Result<String, Problem> {
        let messages = lock(&self.shared).history.summary_request();
        let mut body = json!({ "model": self.model, "messages": messages, "stream": true });
        body["stream_options"] = json!({ "include_usage": true });
        let chat = match self.openai.client.chat(&body).await {
            Err(problem) if problem.is_about("stream_options") => {
                body.as_object_mut().map(|body| body.remove("stream_options"));
                self.openai.client.chat(&body).await
            }
            chat => chat,
        };
        let mut chat = chat?;
        while chat.next().await?.is_some() {}
        let reply = chat.reply;
        Ok(reply.text.trim().to_owned())
    }

    /// Asks the model for its next step, in the words that its server understands.
    async fn ask(&self, messages: Vec<Value>) -> Result<Reply, Problem> {
        loop {
            let dialect = lock(&self.shared).dialect;
            let mut body = json!({ "model": self.model, "messages": messages, "stream": true });
            if !dialect.without_counts {
                body["stream_options"] = json!({ "include_usage": true });
            }
            if !dialect.without_tools {
                body["tools"] = tools::descriptions();
            }
            self.trace.keep(Speaker::Server, &body.to_string());
            match self.listen(&body).await {
                Ok(reply) => {
                    self.trace.keep(Speaker::Agent, &reply.message().to_string());
                    self.count(&reply).await;
                    return Ok(reply);
                }
                Err(problem) => {
                    self.trace.keep(Speaker::Agent, &format!("{problem:?}"));
                    self.learn(problem).await?;
                }
            }
        }
    }

    /// Tells what a model says while it says it.
    async fn listen(&self, body: &Value) -> Result<Reply, Problem> {
        let mut chat = self.openai.client.chat(body).await?;
        while let Some(happenings) = chat.next().await? {
            for happening in happenings {
                self.tell(happening).await;
            }
        }
        Ok(chat.reply)
    }

    /// Leaves out next time what the server does not understand; gives any other problem back.
    async fn learn(&self, problem: Problem) -> Result<(), Problem> {
        let mut dialect = lock(&self.shared).dialect;
        if problem.is_about("stream_options") && !dialect.without_counts {
            dialect.without_counts = true;
        } else if problem.is_about("tool") && !dialect.without_tools {
            dialect.without_tools = true;
            let words = "This model takes no tools: it can answer, and not look at files.";
            self.notice(NoticeLevel::Info, words).await;
        } else {
            return Err(problem);
        }
        lock(&self.shared).dialect = dialect;
        Ok(())
    }

    /// Adds up what a step took.
    async fn count(&self, reply: &Reply) {
        let Some((input, output)) = reply.tokens else { return };
        let usage = {
            let usage = &mut lock(&self.shared).usage;
            usage.input_tokens += input;
            usage.output_tokens += output;
            usage.context_tokens = Some(input + output);
            usage.context_limit = self.context;
            *usage
        };
        self.tell(Happening::Usage(usage)).await;
    }

    async fn notice(&self, level: NoticeLevel, words: &str) {
        self.tell(Happening::Notice { level, text: words.to_owned() }).await;
    }

    pub(super) async fn tell(&self, happening: Happening) {
        if let Happening::Text(words) = &happening {
            lock(&self.shared).history.note(words);
        }
        // Where nobody listens any more, the turn is dropped anyway.
        let _ = self.happenings.send(happening).await;
    }
}
