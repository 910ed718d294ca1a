//! Taking a prompt back before its session starts it.

use super::log::TurnLog;
use crate::domain::ids::{MessageId, SessionId, TurnId};
use crate::server::error::ServiceError;
use crate::server::store::Store;

/// Withdraws a prompt: its journal line is synced, its row hidden, or neither.
pub async fn withdraw(
    store: &Store,
    log: &TurnLog,
    submitted_to: &SessionId,
    turn_id: &TurnId,
    message_id: &MessageId,
) -> Result<(), ServiceError> {
    let line = log.withdrawn(submitted_to, turn_id).await?;
    let hidden = match store.withdraw_prompt(message_id).await {
        Ok(()) => Ok(()),
        // A COMMIT that failed may have taken effect.
        Err(error) => match store.prompt_of_turn(turn_id).await {
            Ok(Some(prompt)) if prompt.is_withdrawn => Ok(()),
            _ => Err(error),
        },
    };
    match hidden {
        Ok(()) => line.accept(),
        Err(_) => log.remove_line(line).await,
    }
    Ok(hidden?)
}
