//! The one way in: every prompt, from whatever door, is on the disk before any work starts.
//!
//! Attachments are stored → the turn is known to be new and where it belongs → it enters
//! ([`super::entry`]) → the sender is told.

use super::answer::Given;
use super::entry::Entry;
use super::gate::Half;
use crate::domain::ids::{SessionId, TurnId};
use crate::domain::message::{Attachment, MessageState, Part};
use crate::domain::resolver::{EntryPoint, Intent, Outcome};
use crate::domain::turn::Step;
use crate::server::error::ServiceError;
use crate::server::resolution::resolve_row;
use crate::server::state::Services;
use crate::server::store::Standing;
use crate::wire::error::FailureCode;
use crate::wire::rest::{StartTurn, TurnReceipt};

/// The longest prompt, in bytes.
pub const LONGEST_PROMPT: usize = 256 << 10;

/// The most files that one prompt may carry.
const MOST_ATTACHMENTS: usize = 20;

/// Stores a prompt and hands it to its session. The same turn again gives the same receipt and
/// starts nothing.
pub async fn submit(services: &Services, turn: StartTurn) -> Result<TurnReceipt, ServiceError> {
    begin(services, turn, None).await
}

/// Does the same with a prompt that answers a question kept from before a restart.
pub async fn submit_answer(
    services: &Services,
    turn: StartTurn,
    given: Given,
) -> Result<TurnReceipt, ServiceError> {
    begin(services, turn, Some(given)).await
}

async fn begin(
    services: &Services,
    turn: StartTurn,
    given: Option<Given>,
) -> Result<TurnReceipt, ServiceError> {
    check_content(&turn)?;
    let mut passage = services.gate.enter(&turn.turn_id).await;
    if let Some(Half::Refused(message_id)) = passage.half() {
        services.store.remove_message(message_id).await?;
        passage.forget();
    }
    let _precedence = services.store.expect_prompt();
    let standing = services.store.standing(&turn.turn_id, &turn.session_id)?;
    if standing.as_ref().is_none_or(|standing| standing.known)
        && let Some(receipt) = known_turn(services, &turn).await?
    {
        return Ok(receipt);
    }
    let workspace = find_target(services, standing, &turn.session_id).await?;
    check_attachments(services, &turn).await?;
    let place = services.turn_log.take_place();
    let alone = place.is_alone();
    let entry = Entry { passage, place, turn, workspace, given };
    // A sender who hangs up must not leave a turn half-way. One who is alone is waited for in one
    // go, and for the others there is a task that goes on without them.
    if alone {
        return entry.finish(services).await;
    }
    let services = services.clone();
    tokio::spawn(async move { entry.finish(&services).await }).await?
}

fn check_content(turn: &StartTurn) -> Result<(), ServiceError> {
    let refuse = |code, message: &str| Err(ServiceError::refused(code, message));
    if turn.content.trim().is_empty() && turn.attachments.is_empty() {
        return refuse(FailureCode::InvalidRequest, "Write something before sending.");
    }
    if turn.content.len() > LONGEST_PROMPT {
        return refuse(FailureCode::TooLarge, "This message is too long: 256 kB is the most.");
    }
    if turn.attachments.len() > MOST_ATTACHMENTS {
        return refuse(FailureCode::TooLarge, "A message carries at most 20 files.");
    }
    let long_name =
        |attachment: &Attachment| attachment.name.len() > 255 || attachment.media_type.len() > 255;
    if turn.attachments.iter().any(long_name) {
        return refuse(FailureCode::InvalidRequest, "A file's name has at most 255 bytes.");
    }
    Ok(())
}

async fn known_turn(
    services: &Services,
    turn: &StartTurn,
) -> Result<Option<TurnReceipt>, ServiceError> {
    let Some((session_id, known)) = services.store.prompt_of_turn(&turn.turn_id).await? else {
        return Ok(None);
    };
    if known.parts != prompt_parts(turn.content.clone(), turn.attachments.clone())
        || !same_conversation(services, turn, &session_id).await?
    {
        return Err(conflict());
    }
    Ok(Some(TurnReceipt {
        turn_id: turn.turn_id.clone(),
        session_id,
        message_id: known.message_id,
        accepted: false,
        state: state_of(services, &turn.turn_id).await?,
    }))
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
async fn state_of(services: &Services, turn_id: &TurnId) -> Result<Step, ServiceError> {
    let answer = services.store.answer_of_turn(turn_id).await?;
    Ok(match answer.map(|(_, answer)| answer.state) {
        None => Step::Submitted,
        Some(MessageState::Streaming) => Step::AssistantStarted,
        Some(MessageState::Complete) => Step::Completed,
        Some(_) => Step::Interrupted,
    })
}

/// Writes are resolved too: a prompt for another row of the lineage is told where it belongs.
/// A row that is no record of an earlier part leads to itself, whatever else its lineage holds.
/// Gives the folder that the row works in.
async fn find_target(
    services: &Services,
    standing: Option<Standing>,
    named: &SessionId,
) -> Result<String, ServiceError> {
    if let Some(Standing { snapshot: false, workspace, .. }) = standing {
        return Ok(workspace);
    }
    let (resolution, row) =
        resolve_row(services, named.as_str(), EntryPoint::DirectOpen, Intent::Navigate).await?;
    match (resolution.outcome, row) {
        (Outcome::Open, Some(row)) if row.session_id == *named => Ok(row.workspace),
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

pub(super) fn conflict() -> ServiceError {
    let message = "Another message was sent under the same turn id.";
    ServiceError::refused(FailureCode::TurnConflict, message)
}

/// Gives the parts of the message that a prompt is stored as.
pub(super) fn prompt_parts(content: String, attachments: Vec<Attachment>) -> Vec<Part> {
    let mut parts = vec![Part::Text { text: content }];
    parts.extend(attachments.into_iter().map(Part::Attachment));
    parts
}
