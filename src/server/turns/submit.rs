//! The one way in: every prompt, from whatever door, is stored before any work starts.

use crate::domain::list::{preview, title_from_prompt};
use crate::domain::message::{Message, MessageState, Part, Role};
use crate::domain::resolver::{EntryPoint, Intent, Outcome};
use crate::server::error::ServiceError;
use crate::server::mint;
use crate::server::resolution::resolve;
use crate::server::sessions::{TaskCommand, Turn};
use crate::server::state::Services;
use crate::wire::error::FailureCode;
use crate::wire::rest::{StartTurn, TurnReceipt};

/// The longest prompt, in bytes.
pub const LONGEST_PROMPT: usize = 256 << 10;

/// Stores a prompt and hands it to its session. The same turn again gives the same receipt and
/// starts nothing.
pub async fn submit(services: &Services, turn: StartTurn) -> Result<TurnReceipt, ServiceError> {
    check_content(&turn)?;
    if let Some(receipt) = known_turn(services, &turn).await? {
        return Ok(receipt);
    }
    check_target(services, &turn).await?;
    check_attachments(services, &turn).await?;
    let prompt = prompt_of(&turn);
    let title = title_from_prompt(&turn.content);
    let preview = preview(&turn.content);
    if !services.store.add_prompt(&turn.session_id, &prompt, &title, &preview).await? {
        // Another request with the same turn came first.
        let known = known_turn(services, &turn).await?;
        return known.ok_or_else(|| {
            ServiceError::refused(FailureCode::Unavailable, "The message could not be stored.")
        });
    }
    let receipt = TurnReceipt {
        turn_id: turn.turn_id.clone(),
        session_id: turn.session_id.clone(),
        message_id: prompt.message_id.clone(),
        accepted: true,
    };
    let start = Turn { turn_id: turn.turn_id, prompt, attachments: turn.attachments };
    services.registry.send(&turn.session_id, TaskCommand::Start(Box::new(start))).await?;
    Ok(receipt)
}

fn check_content(turn: &StartTurn) -> Result<(), ServiceError> {
    if turn.content.trim().is_empty() && turn.attachments.is_empty() {
        let message = "Write something before sending.";
        return Err(ServiceError::refused(FailureCode::InvalidRequest, message));
    }
    if turn.content.len() > LONGEST_PROMPT {
        let message = "This message is too long: 256 kB is the most.";
        return Err(ServiceError::refused(FailureCode::TooLarge, message));
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
    if session_id != turn.session_id || known.parts != prompt_of(turn).parts {
        let message = "Another message was sent under the same turn id.";
        return Err(ServiceError::refused(FailureCode::TurnConflict, message));
    }
    Ok(Some(TurnReceipt {
        turn_id: turn.turn_id.clone(),
        session_id,
        message_id: known.message_id,
        accepted: false,
    }))
}

/// Writes are resolved too: a prompt for another row of the lineage is told where it belongs.
async fn check_target(services: &Services, turn: &StartTurn) -> Result<(), ServiceError> {
    let requested = turn.session_id.as_str();
    let resolution = resolve(services, requested, EntryPoint::DirectOpen, Intent::Navigate).await?;
    match resolution.outcome {
        Outcome::Open if resolution.session_id.as_ref() == Some(&turn.session_id) => Ok(()),
        Outcome::Open | Outcome::Inspect => {
            Err(ServiceError::wrong_target(resolution.canonical_visible_session_id))
        }
        _ => Err(ServiceError::no_session()),
    }
}

async fn check_attachments(services: &Services, turn: &StartTurn) -> Result<(), ServiceError> {
    for attachment in &turn.attachments {
        if !services.blobs.contains(&attachment.blob).await? {
            let message = format!("The file {} was not uploaded.", attachment.name);
            return Err(ServiceError::refused(FailureCode::InvalidRequest, message));
        }
    }
    Ok(())
}

fn prompt_of(turn: &StartTurn) -> Message {
    let now = mint::now();
    let mut parts = vec![Part::Text { text: turn.content.clone() }];
    parts.extend(turn.attachments.iter().cloned().map(Part::Attachment));
    Message {
        message_id: mint::message_id(),
        turn_id: Some(turn.turn_id.clone()),
        role: Role::User,
        state: MessageState::Complete,
        parts,
        usage: None,
        created_at: now,
        ended_at: Some(now),
        recovered: false,
    }
}
