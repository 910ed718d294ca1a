//! What is done once at start, before the first request, for turns that the last stop cut short.

use std::collections::HashMap;

use super::log::{TurnLog, WITHDRAWN};
use super::reconcile::{Plan, interrupt, plan, submission_of};
use crate::domain::ids::{SessionId, TurnId};
use crate::server::journal::{JournalError, Load, SessionJournal, Turn};
use crate::server::store::{Store, StoreError};
use crate::wire::journal::{Record, TurnEvent};

/// The reason that the journal gives for turns which recovery ends.
const REASON: &str = "server_startup_recovery";

/// The reason that the journal gives for turns whose session's task panicked.
const TASK_FAILED: &str = "session_task_failed";

#[derive(Debug, thiserror::Error)]
pub enum RecoveryError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the turn journal cannot be used: {0}")]
    Journal(#[from] JournalError),
}

/// What recovery found to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recovered {
    pub turns: usize,
    /// Unfinished answers that no journal knows of, such as a compression.
    pub answers: usize,
    /// Journals whose session is not stored; the audit tells about them.
    pub orphans: usize,
}

/// Ends every unfinished turn, visibly. Running it twice changes nothing the second time,
/// and no agent is ever asked anything.
pub async fn recover(store: &Store, log: &TurnLog) -> Result<Recovered, RecoveryError> {
    adopt_prompts(store, log).await?;
    let mut recovered = Recovered::default();
    let mut plans = Vec::new();
    for journal in unfinished(log).await? {
        if !store.has_session(&journal.session_id).await? {
            recovered.orphans += 1;
            continue;
        }
        for turn in journal.turns {
            let plan = plan(store, &journal.session_id, turn).await?;
            if !plan.actions.is_empty() {
                plans.push(plan);
            }
        }
    }
    for plan in &mut plans {
        plan.repair_store(store).await?;
    }
    recovered.answers = end_answers(store).await?;
    store.finish_prompts(None).await?;
    recovered.turns = plans.len();
    store.flush_wal().await?;
    close(log, &plans, REASON).await?;
    Ok(recovered)
}

/// Journals the prompts that are stored without a line, which version 0.1 could leave behind after a
/// power loss. Nobody was told that they arrived, and they are kept all the same.
async fn adopt_prompts(store: &Store, log: &TurnLog) -> Result<(), RecoveryError> {
    for (session_id, prompt) in store.unfinished_prompts().await? {
        let Some(turn_id) = prompt.turn_id.clone() else { continue };
        // What has an answer was taken up, and so was in the journal of the row it was sent to.
        if store.answer_of_turn(&turn_id).await?.is_some() {
            continue;
        }
        let Some(session) = store.session(&session_id).await? else { continue };
        let at = prompt.created_at.seconds();
        let submitted = TurnEvent::Submitted(submission_of(prompt, session.workspace));
        let record = Record::new(&turn_id, &session_id, at, submitted);
        log.blocking(move |journal| {
            let found = journal.read(&session_id, Load::Pending)?;
            let mut turns = found.iter().flat_map(|found| &found.turns);
            match turns.any(|turn| turn.turn_id == record.turn_id) {
                true => Ok(()),
                false => journal.append_synced(&session_id, &record),
            }
        })
        .await?;
    }
    Ok(())
}

/// Ends the turns of a session task that panicked, as a restart would.
pub async fn interrupt_turns(
    store: &Store,
    log: &TurnLog,
    turns: HashMap<TurnId, SessionId>,
) -> Result<(), RecoveryError> {
    let mut plans = Vec::new();
    for (turn_id, session_id) in turns {
        let read_from = session_id.clone();
        let read = log.blocking(move |journal| journal.read(&read_from, Load::Pending)).await?;
        let found = read.into_iter().flat_map(|journal| journal.turns);
        if let Some(turn) = found.into_iter().find(|turn| turn.turn_id == turn_id) {
            let mut plan = plan(store, &session_id, turn).await?;
            plan.repair_store(store).await?;
            plans.push(plan);
        }
        log.ended(&turn_id);
    }
    store.flush_wal().await?;
    Ok(close(log, &plans, TASK_FAILED).await?)
}

/// Ends turns in the journal, once the store holds what there is to hold of them.
pub async fn close(log: &TurnLog, plans: &[Plan], reason: &str) -> Result<(), JournalError> {
    for plan in plans {
        for event in plan.closing(reason) {
            log.step(&plan.session_id, &plan.turn_id, event).await?;
        }
    }
    Ok(())
}

/// Reads the journals that have turns without an end, and only those turns of them.
async fn unfinished(log: &TurnLog) -> Result<Vec<SessionJournal>, JournalError> {
    log.blocking(|journal| {
        let mut unfinished = Vec::new();
        for session in journal.list()?.sessions {
            // A file that cannot be read must not keep the others from being recovered.
            let read = journal.read(&session, Load::Pending).unwrap_or_else(|error| {
                tracing::error!(%session, %error, "a journal cannot be read");
                None
            });
            let Some(mut found) = read else { continue };
            // A power loss may have kept a withdrawal's line and lost what it did to the store.
            let is_withdrawn = |turn: &Turn| turn.reason.as_deref() == Some(WITHDRAWN);
            found.turns.retain(|turn| !turn.state.is_terminal() || is_withdrawn(turn));
            if !found.turns.is_empty() {
                unfinished.push(found);
            }
        }
        Ok(unfinished)
    })
    .await
}

/// Marks the answers that are stored as unfinished as interrupted.
async fn end_answers(store: &Store) -> Result<usize, StoreError> {
    let unfinished = store.unfinished_messages().await?;
    let count = unfinished.len();
    for (session_id, answer) in unfinished {
        interrupt(store, &session_id, answer).await?;
    }
    Ok(count)
}
