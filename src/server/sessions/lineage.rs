//! How one conversation comes to span several rows.

use super::chronicle::Happened;
use super::task::SessionTask;
use crate::domain::event::Event;
use crate::domain::ids::SessionId;
use crate::domain::message::{Message, MessageState, NoticeLevel, Part, Role};
use crate::server::agents::agent::{AgentCommand, Happening};
use crate::server::lock::lock;
use crate::server::mint;
use crate::wire::error::{Failure, FailureCode};

/// How full an agent's context may become before it is compressed, in percent.
const FULL: u64 = 90;

/// Tells whether an answer left its agent so little room that compression is due.
pub fn fills_context(answer: &Message) -> bool {
    let usage = answer.usage.unwrap_or_default();
    match (usage.context_tokens, usage.context_limit) {
        (Some(used), Some(limit)) if limit > 0 => used.saturating_mul(100) / limit >= FULL,
        _ => false,
    }
}

impl SessionTask {
    /// Asks the agent to compress the conversation now.
    pub(super) async fn compress(&mut self) -> Result<(), Failure> {
        if self.running.is_some() {
            let message = "Wait for the answer to end, or stop it, before compressing.";
            return Err(Failure::new(FailureCode::Unavailable, message));
        }
        self.begin_compression().await;
        self.announce().await;
        Ok(())
    }

    pub(super) async fn begin_compression(&mut self) {
        self.close_kept_question(None, MessageState::Interrupted).await;
        self.begin(mint::turn_id(), None, AgentCommand::Compress).await;
    }

    /// Lets the continuation answer what was sent before compression and not taken up yet.
    pub(super) fn hand_over_queue(&mut self, continuation: &SessionId) {
        for turn in std::mem::take(&mut self.queue) {
            lock(&self.around.unended).remove(&turn.turn_id);
            self.around.registry.hand_over(continuation, turn);
        }
    }

    /// Records that the agent compressed its context: this row becomes the earlier part, and the
    /// conversation goes on in a new one.
    pub(super) async fn continue_elsewhere(&mut self, summary: &str) {
        let at = mint::now();
        let continuation = mint::session_id();
        let opening = Message {
            message_id: mint::message_id(),
            turn_id: None,
            role: Role::System,
            state: MessageState::Complete,
            parts: vec![Part::Text { text: summary.to_owned() }],
            usage: None,
            created_at: at,
            ended_at: Some(at),
            recovered: false,
        };
        let store = &self.around.store;
        match store.compress_session(&self.session_id, &continuation, &opening, at).await {
            Ok(()) => {
                let snapshot = self.session_id.clone();
                self.emit(Event::Compressed { snapshot, continuation: continuation.clone() });
                let board = &self.around.board;
                if let Err(error) = board.post(Happened::Compressed, &continuation, None).await {
                    tracing::error!(session = %continuation, %error, "a row could not be read");
                }
                self.announce().await;
            }
            Err(error) => {
                tracing::error!(session = %self.session_id, %error, "compression failed");
                let text = "The conversation could not be compressed.".to_owned();
                self.write(Happening::Notice { level: NoticeLevel::Error, text });
            }
        }
    }
}
