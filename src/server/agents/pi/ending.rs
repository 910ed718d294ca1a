//! How a turn ends: by pi's word, by a person's, or with the process.

use serde_json::Value;
use tokio::time::{Duration, Instant};

use super::conversation::{Conversation, Left, Turn};
use super::link::reply;
use crate::domain::message::{NoticeLevel, Role};
use crate::server::agents::agent::{Ending, Happening};
use crate::server::agents::json::text;

/// How long pi may be quiet after what looks like an end before it is asked whether it rests.
const QUIET: Duration = Duration::from_millis(300);

/// How long it is let alone where it said that it still works.
const WORKING: Duration = Duration::from_secs(1);

/// Whether pi seems to rest without having said so.
#[derive(Debug, Default)]
pub struct Rest {
    /// When it is to be asked.
    pub due: Option<Instant>,
    /// The id under which it was asked.
    asked: Option<String>,
}

impl Conversation {
    /// Notices what an event says about the end of the turn.
    pub(super) async fn watch_end(&mut self, event: &Value) -> Result<(), Left> {
        self.rest = Rest::default();
        let goes_on = event.get("willRetry").and_then(Value::as_bool) == Some(true);
        match (text(event, "type"), self.turn) {
            (Some("agent_settled"), Some(Turn::Prompt { .. })) => self.end().await,
            (Some("agent_end" | "compaction_end"), Some(Turn::Prompt { .. })) if !goes_on => {
                self.rest.due = Some(Instant::now() + QUIET);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Reads the reply to a command that was not waited for.
    pub(super) async fn read_reply(&mut self, message: &Value) -> Result<(), Left> {
        let id = text(message, "id");
        let command = text(message, "command").unwrap_or_default();
        if self.rest.asked.is_some() && self.rest.asked.as_deref() == id {
            self.rest.asked = None;
            return self.judge_rest(&reply(message).unwrap_or_default()).await;
        }
        let ours = id.is_none() || id == self.prompt_id.as_deref();
        match (command, self.turn) {
            ("prompt", Some(Turn::Prompt { started })) if ours => match reply(message) {
                Err(_) if self.cancelled => self.end().await,
                Err(why) => self.fail("prompt", why).await,
                // A command of an extension ends with its reply, and begins no run.
                Ok(_) if !started => {
                    self.rest.due = Some(Instant::now() + QUIET);
                    Ok(())
                }
                Ok(_) => Ok(()),
            },
            ("compact", Some(Turn::Compress)) if ours => {
                if let Ok(data) = reply(message)
                    && let Some(summary) = text(&data, "summary")
                {
                    self.translator.compaction = Some(summary.to_owned());
                }
                match reply(message) {
                    Err(why) if !self.cancelled => self.fail("compress", why).await,
                    _ => self.end().await,
                }
            }
            // It is answered only when pi has come to rest. The next turn may have begun by then.
            ("abort", Some(Turn::Prompt { .. })) if self.answers_abort(id) => self.end().await,
            _ => Ok(()),
        }
    }

    fn answers_abort(&self, id: Option<&str>) -> bool {
        self.abort_id.as_deref().is_some_and(|sent| id.is_none_or(|id| id == sent))
    }

    /// Asks whether pi rests.
    pub(super) fn ask_for_rest(&mut self) {
        self.rest.due = None;
        if let Some(link) = &mut self.link {
            self.rest.asked = Some(link.send(serde_json::json!({ "type": "get_state" })));
        }
    }

    async fn judge_rest(&mut self, state: &Value) -> Result<(), Left> {
        let busy = |key| state.get(key).and_then(Value::as_bool).unwrap_or_default();
        if busy("isStreaming") || busy("isCompacting") {
            self.rest.due = Some(Instant::now() + WORKING);
            return Ok(());
        }
        let slash = matches!(self.turn, Some(Turn::Prompt { .. })) && self.is_command;
        if !self.translator.active && !slash && !self.cancelled {
            let text = "The agent took the message and did nothing with it.".to_owned();
            self.say(Happening::Notice { level: NoticeLevel::Warning, text }).await?;
        }
        self.end().await
    }

    /// Ends the turn under way as it stands.
    async fn end(&mut self) -> Result<(), Left> {
        if self.turn.is_none() {
            return Ok(());
        }
        self.questions.clear();
        self.rest = Rest::default();
        self.recollection.add(Role::Assistant, &self.translator.said);
        if let Some(summary) = self.translator.compaction.take() {
            self.say(Happening::Compacted { summary }).await?;
        }
        let (reason, why) = self.translator.stopped.take().unwrap_or_default();
        let remark = match reason.as_str() {
            _ if self.cancelled => None,
            "error" => return self.fail("prompt", why).await,
            "length" => Some("The answer ends here: it reached the longest length allowed."),
            _ => None,
        };
        if let Some(remark) = remark {
            let text = remark.to_owned();
            self.say(Happening::Notice { level: NoticeLevel::Info, text }).await?;
        }
        self.turn = None;
        let stopped = self.cancelled || reason == "aborted";
        let ending = if stopped { Ending::Cancelled } else { Ending::Completed };
        self.say(Happening::Ended(ending)).await
    }

    pub(super) async fn fail(&mut self, phase: &str, message: String) -> Result<(), Left> {
        self.turn = None;
        self.questions.clear();
        self.rest = Rest::default();
        self.say(Happening::Failed { phase: phase.to_owned(), message }).await?;
        self.say(Happening::Ended(Ending::Failed)).await
    }

    /// Notices that the process is gone. Between turns that is news only if nobody let it go; the
    /// next prompt starts another.
    pub(super) async fn lose(&mut self, how: &str, let_go: bool) -> Result<(), Left> {
        self.link = None;
        self.questions.clear();
        if self.turn.take().is_none() && let_go {
            return Ok(());
        }
        let message = format!("{} stopped unexpectedly: it {how}", self.pi.name());
        self.say(Happening::Crashed { message }).await?;
        Err(Left)
    }
}
