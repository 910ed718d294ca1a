//! The life of a turn: from the queue through the agent to its end.

use std::time::Duration;

use futures::future::BoxFuture;
use tokio::time::Instant;

use super::chronicle::Happened;
use super::inbox::Turn;
use super::lineage::fills_context;
use super::task::{AgentState, Running, SessionTask};
use crate::domain::event::{DeltaKind, Event, Outcome};
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::list::preview;
use crate::domain::markdown;
use crate::domain::message::{Attachment, Message, MessageState, NoticeLevel, Part, Role};
use crate::domain::session::Milestone;
use crate::domain::time::Timestamp;
use crate::domain::turn::Step;
use crate::server::agents::agent::{AgentCommand, AgentError, AgentHandle, Ending, Happening};
use crate::server::mint;
use crate::wire::error::{Failure, FailureCode};

/// How long an agent has to stop before it is let go.
const STOP_WITHIN: Duration = Duration::from_secs(5);

impl SessionTask {
    /// Shows a stored prompt and takes it up when its time comes.
    pub(super) async fn enqueue(&mut self, turn: Turn) {
        self.emit(Event::MessageStart { message: turn.prompt.clone() });
        if let Err(error) = self.around.store.finish_prompts(Some(&turn.prompt.message_id)).await {
            tracing::error!(session = %self.session_id, %error, "a prompt is not searchable yet");
        }
        self.queue.push_back(turn);
        self.take_up_next().await;
        self.announce().await;
    }

    async fn take_up_next(&mut self) {
        if self.running.is_some() {
            return;
        }
        if let Some(continuation) = self.live.continuation.clone() {
            return self.hand_over_queue(&continuation);
        }
        let Some(turn) = self.queue.pop_front() else {
            return;
        };
        self.close_kept_question(turn.answer.as_ref(), MessageState::Interrupted).await;
        // Earlier turns are in the store; only prompts and answers still under way stay here.
        let waiting: Vec<_> = self.queue.iter().map(|turn| &turn.prompt.message_id).collect();
        self.live.messages.retain(|message| {
            message.message_id == turn.prompt.message_id || waiting.contains(&&message.message_id)
        });
        let (turn_id, journal) = (turn.turn_id.clone(), turn.submitted_to.clone());
        let command = self.command_of(turn).await;
        self.begin(turn_id, Some(journal), command).await;
    }

    pub(super) async fn begin(
        &mut self,
        turn_id: TurnId,
        journal: Option<SessionId>,
        command: AgentCommand,
    ) {
        let answer = Message {
            message_id: mint::message_id(),
            turn_id: Some(turn_id.clone()),
            role: Role::Assistant,
            state: MessageState::Streaming,
            parts: Vec::new(),
            usage: None,
            created_at: mint::now(),
            ended_at: None,
            recovered: false,
        };
        self.running = Some(Running {
            turn_id: turn_id.clone(),
            answer_id: answer.message_id.clone(),
            command,
            journal,
            step: Step::Submitted,
            stop_by: None,
        });
        self.meta.send_modify(|meta| meta.milestone = None);
        self.emit(Event::AgentStart { turn_id, at: answer.created_at });
        self.emit(Event::MessageStart { message: answer });
        self.note_started().await;
        self.checkpoint().await;
        if let AgentState::Closed = self.agent_state {
            self.open_agent().await;
        } else {
            self.send_command().await;
        }
    }

    async fn send_command(&mut self) {
        let Some(command) = self.running.as_ref().map(|running| running.command.clone()) else {
            return;
        };
        if matches!(self.agent_state, AgentState::Open(_)) && self.command_agent(command).is_err() {
            self.agent_gone().await;
        }
    }

    pub(super) async fn agent_opened(&mut self, opened: Result<AgentHandle, AgentError>) {
        match opened {
            Ok(handle) => {
                self.agent_state = AgentState::Open(handle);
                self.hear_introduction().await;
                self.send_command().await;
            }
            Err(error) => {
                self.agent_state = AgentState::Closed;
                let message = error.to_string();
                self.answer_rousers(&Err(Failure::new(FailureCode::AgentUnavailable, &*message)));
                self.write(Happening::Failed { phase: "start".into(), message });
                self.end_turn(Outcome::Failed).await;
            }
        }
    }

    pub(super) async fn agent_did(&mut self, happening: Happening) {
        match happening {
            Happening::Text(text) => return self.gather(DeltaKind::Text, &text),
            Happening::Thinking(text) => return self.gather(DeltaKind::Thinking, &text),
            Happening::Session(_)
            | Happening::Title(_)
            | Happening::Options(_)
            | Happening::Commands(_) => return self.agent_told(happening).await,
            _ => self.flush_words(),
        }
        match happening {
            Happening::Ended(ending) => self.end_turn(self.outcome_of(ending)).await,
            Happening::File { name, media_type, bytes } => {
                self.keep_file(name, media_type, bytes).await;
            }
            Happening::Compacted { summary } => self.continue_elsewhere(&summary).await,
            Happening::Crashed { message } => self.agent_crashed(message).await,
            other => {
                let changes_row =
                    matches!(other, Happening::Question(_) | Happening::Answered { .. });
                self.write(other);
                self.checkpoint().await;
                if changes_row {
                    self.announce().await;
                }
            }
        }
    }

    /// Trusts our own memory over the agent's word: agents answer a Stop in many ways.
    fn outcome_of(&self, ending: Ending) -> Outcome {
        let stopped = self.running.as_ref().is_some_and(|running| running.stop_by.is_some());
        match ending {
            _ if stopped => Outcome::Cancelled,
            Ending::Completed => Outcome::Completed,
            Ending::Cancelled => Outcome::Cancelled,
            Ending::Failed => Outcome::Failed,
        }
    }

    /// Notices that the agent is gone without a word.
    pub(super) async fn agent_gone(&mut self) {
        self.agent_crashed("The agent stopped unexpectedly.".to_owned()).await;
    }

    async fn agent_crashed(&mut self, message: String) {
        self.agent_state = AgentState::Closed;
        self.flush_words();
        let Some(running) = &self.running else {
            return self.agent_lost(message).await;
        };
        if running.stop_by.is_some() {
            return self.end_turn(Outcome::Cancelled).await;
        }
        self.write(Happening::Notice { level: NoticeLevel::Error, text: message.clone() });
        self.emit(Event::RpcProcessCrashed { message });
        self.end_turn(Outcome::Crashed).await;
    }

    /// Says that the agent is gone though nothing was asked of it.
    async fn agent_lost(&mut self, message: String) {
        let message = format!("{message} Your next message starts it again.");
        self.emit(Event::RpcProcessCrashed { message });
        self.announce().await;
    }

    pub(super) async fn cancel(&mut self) -> Result<(), Failure> {
        if self.running.is_none() && self.close_kept_question(None, MessageState::Cancelled).await {
            self.record_end(false, Milestone::AgentEnd, "", mint::now()).await;
            self.announce().await;
            return Ok(());
        }
        let Some(running) = &mut self.running else {
            return Err(Failure::new(FailureCode::NothingRuns, "Nothing is running here."));
        };
        running.stop_by.get_or_insert(Instant::now() + STOP_WITHIN);
        if self.command_agent(AgentCommand::Cancel).is_err()
            && let Some(running) = &mut self.running
        {
            running.stop_by = Some(Instant::now());
        }
        Ok(())
    }

    /// Lets go of an agent that did not stop when asked.
    pub(super) async fn give_up_on_agent(&mut self) {
        self.agent_state = AgentState::Closed;
        let stopped = Failure::new(FailureCode::AgentUnavailable, "The agent was stopped.");
        self.answer_rousers(&Err(stopped));
        self.end_turn(Outcome::Cancelled).await;
    }

    async fn keep_file(&mut self, name: String, media_type: String, bytes: Vec<u8>) {
        let size = bytes.len() as u64;
        match self.around.blobs.write(bytes).await {
            Ok(blob) => {
                let file = Part::Attachment(Attachment { blob, name, media_type, size });
                if let Some(answer) = self.current_answer() {
                    let (message_id, part) = (answer.message_id.clone(), answer.parts.len());
                    self.emit(Event::Notice { message_id, part, notice: file });
                }
                self.checkpoint().await;
            }
            Err(error) => {
                tracing::error!(session = %self.session_id, %error, "a file could not be kept");
                let text = format!("The file {name} could not be saved.");
                self.write(Happening::Notice { level: NoticeLevel::Error, text });
            }
        }
    }

    /// Ends the turn under way, if there is one, and takes up the next.
    pub(super) async fn end_turn(&mut self, outcome: Outcome) {
        self.flush_words();
        let Some(answer) = self.current_answer() else {
            return;
        };
        let message_id = answer.message_id.clone();
        let preview = preview_of(answer);
        let nearly_full = self.live.continuation.is_none() && fills_context(answer);
        let (state, at) = (outcome.state_of(answer), mint::now());
        self.emit(Event::MessageEnd { message_id, state, at });
        if self.checkpoint().await {
            self.note_end(outcome).await;
        } else {
            let text = "This answer could not be saved to disk.".to_owned();
            self.write(Happening::Failed { phase: "save".into(), message: text });
        }
        let failed = !matches!(outcome, Outcome::Completed | Outcome::Cancelled);
        let milestone = Milestone::of_end(state);
        self.record_end(failed, milestone, &preview, at).await;
        if let Some(running) = self.running.take() {
            self.forget_turn(&running.turn_id);
            self.emit(Event::AgentEnd { turn_id: running.turn_id, outcome, at });
        }
        if outcome == Outcome::Completed && nearly_full {
            self.compress_boxed().await;
        } else if outcome != Outcome::Interrupted {
            self.take_up_next_boxed().await;
        }
        self.announce_as(Happened::Completed).await;
    }

    async fn record_end(&self, failed: bool, milestone: Milestone, preview: &str, at: Timestamp) {
        let (store, session_id) = (&self.around.store, &self.session_id);
        if let Err(error) = store.record_end(session_id, failed, milestone, preview, at).await {
            tracing::error!(session = %session_id, %error, "the end of a turn could not be saved");
        }
    }

    /// Breaks the cycle of futures between the end of one turn and the start of the next.
    fn take_up_next_boxed(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(self.take_up_next())
    }

    fn compress_boxed(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(self.begin_compression())
    }
}

/// Picks the line that a list shows for an answer: the last it said, or what went wrong.
pub fn preview_of(answer: &Message) -> String {
    let text = markdown::plain_text(&markdown::parse(&answer.text()));
    let said = text.lines().map(str::trim).rfind(|line| !line.is_empty());
    let noticed = answer.parts.iter().rev().find_map(|part| match part {
        Part::Notice { text, .. } => Some(text.as_str()),
        _ => None,
    });
    preview(said.or(noticed).unwrap_or_default())
}
