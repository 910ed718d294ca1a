//! How a turn ends: by the agent's word, by a person's, or with the process.

use super::connection::{Refusal, Reply};
use super::conversation::{Conversation, Left, Turn};
use super::update::NO_SUMMARY;
use crate::domain::message::{NoticeLevel, Role};
use crate::server::agents::agent::{Ending, Happening};
use crate::server::agents::json::text;

impl Conversation {
    /// Ends the turn under way, whatever the agent calls its end.
    pub(super) async fn end(&mut self, reply: Reply) -> Result<(), Left> {
        let Some(turn) = self.turn else { return Ok(()) };
        self.questions.clear();
        self.recollection.add(Role::Assistant, &self.said);
        let ended = match reply {
            Ok(ended) => ended,
            Err(_) if self.cancelled => {
                self.turn = None;
                return self.say(Happening::Ended(Ending::Cancelled)).await;
            }
            Err(Refusal::Gone(how)) => return self.lose(&how, false).await,
            Err(Refusal::Refused { message, .. }) => return self.fail("prompt", message).await,
            Err(Refusal::Late) => return self.fail("prompt", "It took too long.".into()).await,
        };
        if let Some(usage) = self.translator.end_turn(&ended) {
            self.say(usage).await?;
        }
        let (ending, remark) = ending(text(&ended, "stopReason").unwrap_or("end_turn"));
        if let Some(text) = remark.filter(|_| !self.cancelled) {
            self.say(Happening::Notice { level: NoticeLevel::Info, text }).await?;
        }
        let told = self.translator.take_compaction();
        let asked = turn == Turn::Compress && ending == Ending::Completed && !self.cancelled;
        if let Some(summary) = told.or_else(|| asked.then(|| summary_of(&self.said))) {
            self.say(Happening::Compacted { summary }).await?;
        }
        self.turn = None;
        self.say(Happening::Ended(ending)).await
    }

    pub(super) async fn fail(&mut self, phase: &str, message: String) -> Result<(), Left> {
        self.turn = None;
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
        let message = format!("{} stopped unexpectedly: it {how}", self.acp.name());
        self.say(Happening::Crashed { message }).await?;
        Err(Left)
    }
}

/// Reads why an agent stopped. A reason that is not known is still an end.
fn ending(reason: &str) -> (Ending, Option<String>) {
    let remark = match reason {
        "end_turn" => return (Ending::Completed, None),
        "cancelled" => return (Ending::Cancelled, None),
        "max_tokens" => "The answer ends here: it reached the longest length allowed.".to_owned(),
        "max_turn_requests" => {
            "The agent stopped here: it took as many steps as it is allowed.".to_owned()
        }
        "refusal" => "The agent refused to go on.".to_owned(),
        other => format!("The agent stopped for a reason of its own: {other}."),
    };
    (Ending::Completed, Some(remark))
}

fn summary_of(said: &str) -> String {
    match said.trim() {
        "" => NO_SUMMARY.to_owned(),
        said => said.to_owned(),
    }
}
