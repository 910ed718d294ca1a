//! What is done at start for answers that the last stop cut short.

use crate::domain::list::preview;
use crate::domain::message::MessageState;
use crate::domain::session::Milestone;
use crate::server::mint;
use crate::server::store::{Store, StoreError};

/// Marks every answer that was under way as interrupted, and tells how many there were. Running
/// it twice changes nothing the second time.
pub async fn recover(store: &Store) -> Result<usize, StoreError> {
    let unfinished = store.unfinished_messages().await?;
    let count = unfinished.len();
    for (session_id, mut answer) in unfinished {
        let at = mint::now();
        answer.state = MessageState::Interrupted;
        answer.ended_at = Some(at);
        store.save_message(&session_id, &answer).await?;
        let preview = preview(&answer.text());
        store.record_end(&session_id, true, Milestone::AgentEnd, &preview, at).await?;
    }
    Ok(count)
}
