//! The group commit of submitted turns: one actor takes what waits and makes it durable, journal
//! before store.
//!
//! For each batch: one read checks the turns and their targets; each session's journal gets its
//! line, written and synced side by side; one transaction inserts all messages; then the turns are
//! handed to their sessions and the senders are answered. The actor belongs to no sender, so one
//! that hangs up cancels nothing, and two copies of a turn are seen one after the other.

use std::collections::HashSet;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use futures::future::join_all;
use tokio::sync::{mpsc, oneshot};

use super::answer::{QuestionAnswer, question_closed};
use super::log::TurnLog;
use super::submit::prompt_parts;
use crate::domain::ids::SessionId;
use crate::domain::message::{Message, MessageState, Role};
use crate::domain::turn::Step;
use crate::server::error::ServiceError;
use crate::server::journal::PendingLine;
use crate::server::mint;
use crate::server::sessions::{Registry, Turn};
use crate::server::store::{NewPrompt, PromptInsert, Store, StoreError, SubmitTarget};
use crate::wire::error::FailureCode;
use crate::wire::journal::Submission;
use crate::wire::rest::{StartTurn, TurnReceipt};

/// How many turns one transaction takes.
const MAX_BATCH: usize = 64;

/// How many turns one session may have that have not ended.
pub const MAX_UNENDED_TURNS: usize = 256;

/// What the committer made of a turn.
pub enum Commit {
    Accepted(TurnReceipt),
    /// The turn is stored already, or its conversation is gone.
    NotNew,
    /// The target is a snapshot or missing, so the resolver must say where the turn belongs.
    Unresolved,
}

/// A turn that asks to be committed.
struct PendingTurn {
    turn: StartTurn,
    prompt: Message,
    answer: Option<QuestionAnswer>,
    /// The resolver said that the turn belongs to the row it names, even if that is a snapshot.
    is_resolved: bool,
    reply: oneshot::Sender<Result<Commit, ServiceError>>,
}

impl PendingTurn {
    /// Answers the sender, who may have hung up.
    fn reply(self, committed: Result<Commit, ServiceError>) {
        let _ = self.reply.send(committed);
    }
}

/// Handle to the actor, which ends when the last handle is dropped.
#[derive(Clone)]
pub struct Committer(mpsc::Sender<PendingTurn>);

impl Committer {
    pub fn spawn(store: Store, log: TurnLog, registry: Registry) -> Self {
        let (sender, receiver) = mpsc::channel(MAX_BATCH);
        let actor = CommitActor { store, log, registry, receiver, deferred: Vec::new() };
        tokio::spawn(async move {
            // Without the actor no turn can be submitted any more, and what is on the disk is
            // recovered by the next start.
            if AssertUnwindSafe(actor.run()).catch_unwind().await.is_err() {
                tracing::error!("the committer panicked; the server ends");
                std::process::abort();
            }
        });
        Self(sender)
    }

    /// Commits a turn; it is durable when this returns a receipt.
    pub async fn commit(
        &self,
        turn: StartTurn,
        answer: Option<QuestionAnswer>,
        is_resolved: bool,
    ) -> Result<Commit, ServiceError> {
        let stopped = || ServiceError::refused(FailureCode::Unavailable, "The server is stopping.");
        let (reply, committed) = oneshot::channel();
        let prompt = prompt_of(&turn);
        let pending = PendingTurn { turn, prompt, answer, is_resolved, reply };
        self.0.send(pending).await.map_err(|_| stopped())?;
        committed.await.map_err(|_| stopped())?
    }
}

struct CommitActor {
    store: Store,
    log: TurnLog,
    registry: Registry,
    receiver: mpsc::Receiver<PendingTurn>,
    /// Turns that wait for the next batch because their session or turn id is in this one.
    deferred: Vec<PendingTurn>,
}

impl CommitActor {
    async fn run(mut self) {
        while let Some(batch) = self.next_batch().await {
            let checked = self.check(batch).await;
            let written = self.write_lines(checked).await;
            self.store_prompts(written).await;
        }
    }

    /// Takes what waits, at most one turn of each session.
    async fn next_batch(&mut self) -> Option<Vec<PendingTurn>> {
        let mut waiting = std::mem::take(&mut self.deferred);
        if waiting.is_empty() {
            waiting.push(self.receiver.recv().await?);
        }
        while waiting.len() < MAX_BATCH
            && let Ok(pending) = self.receiver.try_recv()
        {
            waiting.push(pending);
        }
        let (mut sessions, mut turns) = (HashSet::new(), HashSet::new());
        let (batch, deferred) = waiting.into_iter().partition(|pending| {
            let StartTurn { turn_id, session_id, .. } = &pending.turn;
            sessions.insert(session_id.clone()) && turns.insert(turn_id.clone())
        });
        self.deferred = deferred;
        Some(batch)
    }

    /// Answers the turns that cannot be committed, and returns the others with their folders.
    async fn check(&self, batch: Vec<PendingTurn>) -> Vec<(PendingTurn, String)> {
        let ids: Vec<_> = batch
            .iter()
            .map(|pending| (pending.turn.turn_id.clone(), pending.turn.session_id.clone()))
            .collect();
        let targets = match self.store.submit_targets(&ids).await {
            Ok(targets) => targets,
            Err(error) => {
                let refusal = ServiceError::from(error);
                batch.into_iter().for_each(|pending| pending.reply(Err(refusal.clone())));
                return Vec::new();
            }
        };
        let mut checked = Vec::with_capacity(batch.len());
        for (pending, target) in batch.into_iter().zip(targets) {
            match target {
                SubmitTarget::KnownTurn => pending.reply(Ok(Commit::NotNew)),
                SubmitTarget::Session { is_snapshot, workspace }
                    if !is_snapshot || pending.is_resolved =>
                {
                    if self.registry.unended_turns(&pending.turn.session_id) < MAX_UNENDED_TURNS {
                        checked.push((pending, workspace));
                    } else {
                        pending.reply(Err(too_many_turns()));
                    }
                }
                _ => pending.reply(Ok(Commit::Unresolved)),
            }
        }
        checked
    }

    /// Writes and syncs the turns' journal lines side by side, and answers the turns that the
    /// journal refuses.
    async fn write_lines(
        &self,
        checked: Vec<(PendingTurn, String)>,
    ) -> Vec<(PendingTurn, PendingLine)> {
        let is_alone = checked.len() == 1;
        let writes = checked.into_iter().map(async |(pending, workspace)| {
            let StartTurn { turn_id, session_id, content, attachments } = pending.turn.clone();
            let submission =
                Submission { content, attachments, workspace, model: None, model_provider: None };
            match self.log.submitted(&session_id, &turn_id, submission, is_alone).await {
                Ok(line) => Some((pending, line)),
                Err(error) => {
                    pending.reply(Err(error.into()));
                    None
                }
            }
        });
        join_all(writes).await.into_iter().flatten().collect()
    }

    /// Inserts the messages in one transaction, hands the stored turns to their sessions, removes
    /// the journal lines of the others, and answers every sender.
    async fn store_prompts(&self, written: Vec<(PendingTurn, PendingLine)>) {
        let prompts: Vec<_> = written.iter().map(|(pending, _)| new_prompt(pending)).collect();
        let inserts = match &*prompts {
            [] => return,
            [prompt] => vec![self.insert_alone(prompt).await],
            prompts => match self.store.insert_prompts(prompts.to_vec()).await {
                Ok(inserts) => inserts.into_iter().map(Ok).collect(),
                // One that cannot be stored must not take the others with it.
                Err(_) => {
                    let mut inserts = Vec::with_capacity(prompts.len());
                    for prompt in prompts {
                        inserts.push(self.insert_alone(prompt).await);
                    }
                    inserts
                }
            },
        };
        for ((pending, line), insert) in written.into_iter().zip(inserts) {
            let refusal = match insert {
                Ok(PromptInsert::Inserted { session_id }) => {
                    line.accept();
                    self.hand_over(pending, session_id);
                    continue;
                }
                Ok(PromptInsert::Skipped) => Ok(Commit::NotNew),
                Ok(PromptInsert::QuestionClosed) => Err(question_closed().into()),
                Err(error) => Err(error.into()),
            };
            self.log.remove_line(line).await;
            self.log.ended(&pending.turn.turn_id);
            pending.reply(refusal);
        }
    }

    /// Inserts one prompt. If it was not inserted it is looked up all the same: a COMMIT that
    /// failed may have taken effect.
    async fn insert_alone(&self, prompt: &NewPrompt) -> Result<PromptInsert, StoreError> {
        let inserted = match self.store.insert_prompts(vec![prompt.clone()]).await {
            Ok(mut inserts) => Ok(inserts.pop().unwrap_or(PromptInsert::Skipped)),
            Err(error) => Err(error),
        };
        let Some(turn_id) = &prompt.message.turn_id else { return inserted };
        match inserted {
            Ok(PromptInsert::Inserted { .. }) => inserted,
            not_inserted => match self.store.prompt_of_turn(turn_id).await {
                Ok(Some(stored)) if stored.message.message_id == prompt.message.message_id => {
                    Ok(PromptInsert::Inserted { session_id: stored.session_id })
                }
                _ => not_inserted,
            },
        }
    }

    fn hand_over(&self, pending: PendingTurn, session_id: SessionId) {
        let StartTurn { turn_id, session_id: submitted_to, attachments, .. } = pending.turn.clone();
        let receipt = TurnReceipt {
            turn_id: turn_id.clone(),
            session_id: session_id.clone(),
            message_id: pending.prompt.message_id.clone(),
            accepted: true,
            state: Step::Submitted,
        };
        let (prompt, answer) = (pending.prompt.clone(), pending.answer.clone());
        let turn = Turn { turn_id, submitted_to, prompt, attachments, answer };
        self.registry.hand_over(&session_id, turn);
        pending.reply(Ok(Commit::Accepted(receipt)));
    }
}

fn too_many_turns() -> ServiceError {
    let message = "Too many messages wait in this conversation. Wait for an answer, or take one \
                   back, and send again.";
    ServiceError::refused(FailureCode::Unavailable, message)
}

fn new_prompt(pending: &PendingTurn) -> NewPrompt {
    NewPrompt {
        session_id: pending.turn.session_id.clone(),
        message: pending.prompt.clone(),
        answered: pending.answer.as_ref().map(|answer| answer.answered.clone()),
    }
}

fn prompt_of(turn: &StartTurn) -> Message {
    let now = mint::now();
    Message {
        message_id: mint::message_id(),
        turn_id: Some(turn.turn_id.clone()),
        role: Role::User,
        state: MessageState::Complete,
        parts: prompt_parts(turn.content.clone(), turn.attachments.clone()),
        usage: None,
        created_at: now,
        ended_at: Some(now),
        recovered: false,
    }
}
