//! The one way in: every prompt, from every transport, is on the disk before any work starts.
//!
//! The content and its attachments are checked, the [`committer`](super::committer) makes the turn
//! durable, and the sender gets a receipt.

use super::answer::QuestionAnswer;
use super::committer::Commit;
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::message::{Attachment, MessageState, Part};
use crate::domain::resolver::{EntryPoint, Intent, Outcome};
use crate::domain::turn::Step;
use crate::server::error::ServiceError;
use crate::server::resolution::resolve_row;
use crate::server::state::Services;
use crate::server::store::StoredPrompt;
use crate::wire::error::FailureCode;
use crate::wire::rest::{StartTurn, TurnReceipt};

/// The longest prompt, in bytes.
pub const MAX_PROMPT_BYTES: usize = 256 << 10;

const MAX_ATTACHMENTS: usize = 20;

/// Stores a prompt and hands it to its session. The same turn again gives the same receipt and
/// starts nothing.
pub async fn submit(services: &Services, turn: StartTurn) -> Result<TurnReceipt, ServiceError> {
    commit(services, turn, None).await
}

/// Does the same with a prompt that answers a question kept from before a restart.
pub async fn submit_answer(
    services: &Services,
    turn: StartTurn,
    answer: QuestionAnswer,
) -> Result<TurnReceipt, ServiceError> {
    commit(services, turn, Some(answer)).await
}

async fn commit(
    services: &Services,
    turn: StartTurn,
    answer: Option<QuestionAnswer>,
) -> Result<TurnReceipt, ServiceError> {
    check_content(&turn)?;
    check_attachments(services, &turn).await?;
    let mut is_resolved = false;
    loop {
        let committed = services.committer.commit(turn.clone(), answer.clone(), is_resolved);
        match committed.await? {
            Commit::Accepted(receipt) => return Ok(receipt),
            Commit::NotNew => return receipt_of_known_turn(services, &turn).await,
            Commit::Unresolved if is_resolved => return Err(ServiceError::no_session()),
            Commit::Unresolved => check_target(services, &turn.session_id).await?,
        }
        is_resolved = true;
    }
}

fn check_content(turn: &StartTurn) -> Result<(), ServiceError> {
    let refuse = |code, message: &str| Err(ServiceError::refused(code, message));
    if turn.content.trim().is_empty() && turn.attachments.is_empty() {
        return refuse(FailureCode::InvalidRequest, "Write something before sending.");
    }
    if turn.content.len() > MAX_PROMPT_BYTES {
        return refuse(FailureCode::TooLarge, "This message is too long: 256 kB is the most.");
    }
    if turn.attachments.len() > MAX_ATTACHMENTS {
        return refuse(FailureCode::TooLarge, "A message carries at most 20 files.");
    }
    let long_name =
        |attachment: &Attachment| attachment.name.len() > 255 || attachment.media_type.len() > 255;
    if turn.attachments.iter().any(long_name) {
        return refuse(FailureCode::InvalidRequest, "A file's name has at most 255 bytes.");
    }
    Ok(())
}

/// Returns the receipt of a turn that was accepted before.
async fn receipt_of_known_turn(
    services: &Services,
    turn: &StartTurn,
) -> Result<TurnReceipt, ServiceError> {
    let Some(known) = services.store.prompt_of_turn(&turn.turn_id).await? else {
        return Err(ServiceError::no_session());
    };
    if known.message.parts != prompt_parts(turn.content.clone(), turn.attachments.clone())
        || !same_conversation(services, turn, &known.session_id).await?
    {
        return Err(conflict());
    }
    Ok(TurnReceipt {
        turn_id: turn.turn_id.clone(),
        state: state_of(services, &turn.turn_id, &known).await?,
        session_id: known.session_id,
        message_id: known.message.message_id,
        accepted: false,
    })
}

/// A conversation that was compressed meanwhile is still the one that the turn was sent to.
async fn same_conversation(
    services: &Services,
    turn: &StartTurn,
    known: &SessionId,
) -> Result<bool, ServiceError> {
    if *known == turn.session_id {
        return Ok(true);
    }
    let root = async |id| {
        let session = services.store.session(id).await?;
        Ok::<_, ServiceError>(session.and_then(|session| session.lineage_root_id))
    };
    let (known, named) = (root(known).await?, root(&turn.session_id).await?);
    Ok(known.is_some() && known == named)
}

/// Tells how far a stored turn got, by the answer that there is to it.
async fn state_of(
    services: &Services,
    turn_id: &TurnId,
    prompt: &StoredPrompt,
) -> Result<Step, ServiceError> {
    if prompt.is_withdrawn {
        return Ok(Step::Interrupted);
    }
    let answer = services.store.answer_of_turn(turn_id).await?;
    Ok(match answer.map(|(_, answer)| answer.state) {
        None => Step::Submitted,
        Some(MessageState::Streaming) => Step::AssistantStarted,
        Some(MessageState::Complete) => Step::Completed,
        Some(_) => Step::Interrupted,
    })
}

/// Asks the resolver where a prompt for a snapshot or a missing row belongs. Succeeds only when it
/// is that very row.
async fn check_target(services: &Services, named: &SessionId) -> Result<(), ServiceError> {
    let (resolution, row) =
        resolve_row(services, named.as_str(), EntryPoint::DirectOpen, Intent::Navigate).await?;
    match (resolution.outcome, row) {
        (Outcome::Open, Some(row)) if row.session_id == *named => Ok(()),
        (Outcome::Open | Outcome::Inspect, _) => {
            Err(ServiceError::wrong_target(resolution.canonical_visible_session_id))
        }
        _ => Err(ServiceError::no_session()),
    }
}

/// Checks that every file was uploaded and is what it is said to be.
async fn check_attachments(services: &Services, turn: &StartTurn) -> Result<(), ServiceError> {
    let refuse = |message| Err(ServiceError::refused(FailureCode::InvalidRequest, message));
    for attachment in &turn.attachments {
        let name = &attachment.name;
        let Some((size, picture)) = services.blobs.describe(&attachment.blob).await? else {
            return refuse(format!("The file {name} was not uploaded."));
        };
        if size != attachment.size {
            return refuse(format!("The file {name} does not have the size that was given."));
        }
        if attachment.is_image() && picture.is_none() {
            return refuse(format!("The file {name} is not a PNG, JPEG, GIF or WebP picture."));
        }
    }
    Ok(())
}

fn conflict() -> ServiceError {
    let message = "Another message was sent under the same turn id.";
    ServiceError::refused(FailureCode::TurnConflict, message)
}

/// Returns the parts of the message that a prompt is stored as.
pub(super) fn prompt_parts(content: String, attachments: Vec<Attachment>) -> Vec<Part> {
    let mut parts = vec![Part::Text { text: content }];
    parts.extend(attachments.into_iter().map(Part::Attachment));
    parts
}
