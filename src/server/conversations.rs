//! What can be done with sessions as a whole: list, open, make, change.

use std::path::{Path, PathBuf};

use super::error::ServiceError;
use super::lists::page_size;
use super::mint;
use super::resolution::resolve;
use super::sessions::{Happened, TaskCommand};
use super::state::Services;
use crate::domain::ids::{MessageId, SessionId};
use crate::domain::lineage::{Lineages, Node};
use crate::domain::message::MessageState;
use crate::domain::resolver::{EntryPoint, Intent};
use crate::domain::session::{Session, Status};
use crate::wire::error::FailureCode;
use crate::wire::rest::{
    AgentFacts, AgentInfo, NewSession, SearchHit, SessionPage, SessionPatch, SnippetPiece,
    Timeline, Transcript,
};

/// How many rows can be asked for by their ids at once.
const MOST_ROWS: usize = 200;

/// How many conversations a search gives at most.
const FOUND_AT_MOST: usize = 30;

/// How many characters a title has at most.
pub const LONGEST_TITLE: usize = 200;

/// Reads a conversation: its newest page, or an older one that ends before a message.
pub async fn open(
    services: &Services,
    id: &SessionId,
    before: Option<&MessageId>,
    limit: Option<u32>,
) -> Result<Transcript, ServiceError> {
    let limit = page_size(limit);
    // Beside an older page only the state of the newest is wanted, and none of its messages.
    let beside = if before.is_some() { 1 } else { limit };
    let newest = services.registry.transcript(id, beside).await?;
    let Some(before) = before else {
        return Ok(newest);
    };
    let page = services.store.message_page(id, Some(before), limit).await?;
    Ok(Transcript { messages: page.messages, has_earlier: page.has_earlier, ..newest })
}

/// Reads the row that a requested id leads to.
pub async fn open_requested(
    services: &Services,
    requested: &str,
    intent: Intent,
    before: Option<&MessageId>,
) -> Result<Transcript, ServiceError> {
    let resolution = resolve(services, requested, EntryPoint::DirectOpen, intent).await?;
    let id = resolution.session_id.ok_or_else(ServiceError::no_session)?;
    open(services, &id, before, None).await
}

/// Reads one row as it stands.
pub async fn row(services: &Services, id: &SessionId) -> Result<Session, ServiceError> {
    let mut session = services.store.session(id).await?.ok_or_else(ServiceError::no_session)?;
    services.registry.show_on(&mut session);
    Ok(session)
}

/// Reads some rows; what is gone is left out.
pub async fn rows(services: &Services, ids: &[SessionId]) -> Result<SessionPage, ServiceError> {
    let mut sessions = Vec::new();
    for id in ids.iter().take(MOST_ROWS) {
        match row(services, id).await {
            Ok(row) => sessions.push(row),
            Err(error) if error.0.code == FailureCode::SessionNotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(SessionPage { sessions, next_cursor: None })
}

/// Makes a new, empty conversation.
pub async fn create(services: &Services, request: NewSession) -> Result<Session, ServiceError> {
    let agent = usable_agent(services, request.agent)?;
    let workspace = folder(services, &agent, request.workspace.as_deref())?;
    let title = checked_title(request.title.unwrap_or_default())?;
    let session = new_row(title, agent, workspace.display().to_string());
    services.store.create_session(&session).await?;
    services.registry.announce_as(Happened::Created, &session.session_id).await?;
    Ok(session)
}

/// Gives the folder that is asked for, if it is allowed, or the one that the agent usually works in.
pub fn folder(
    services: &Services,
    agent: &str,
    asked: Option<&str>,
) -> Result<PathBuf, ServiceError> {
    match asked.map(str::trim).filter(|folder| !folder.is_empty()) {
        Some(folder) => services.folders.allow(Path::new(folder)),
        None => {
            let own = services.registry.agents().folder_of(agent);
            Ok(own.unwrap_or(&services.config.workspace).to_owned())
        }
    }
}

/// Finds the agent that is asked for, or the one that is used when none is.
pub fn usable_agent(services: &Services, asked: Option<String>) -> Result<String, ServiceError> {
    let agents = services.registry.agents();
    let found = match &asked {
        Some(id) => agents.get(id).map(|agent| agent.info()),
        None => agents.usual(),
    };
    let refuse = |code, message| Err(ServiceError::refused(code, message));
    match (found, asked) {
        (Some(AgentInfo { missing: Some(missing), .. }), _) => {
            refuse(FailureCode::AgentUnavailable, missing)
        }
        (Some(agent), _) => Ok(agent.id),
        (None, Some(id)) => {
            refuse(FailureCode::UnknownAgent, format!("There is no agent named {id:?} here."))
        }
        (None, None) => refuse(FailureCode::UnknownAgent, "There is no agent here.".to_owned()),
    }
}

/// Tells how a conversation came to be what it is: its parts and its branches.
pub async fn timeline(services: &Services, id: &SessionId) -> Result<Timeline, ServiceError> {
    let session = services.store.session(id).await?.ok_or_else(ServiceError::no_session)?;
    let root = session.lineage_root_id.unwrap_or(session.session_id);
    let rows = services.store.lineage_rows(&root).await?;
    let nodes: Vec<_> = rows.iter().map(Node::from).collect();
    let members = Lineages::new(&nodes, true).members(root.as_str());
    let row_of = |node: &Node| rows.iter().find(|row| row.session_id == node.session_id).cloned();
    let parts = members.into_iter().filter_map(row_of).collect();
    let forks = services.store.forks_of_lineage(&root).await?;
    Ok(Timeline { parts, forks })
}

/// Branches a conversation off after a message, or at its end. The branch holds copies of what was
/// said up to there, earlier parts included, and never continues its parent.
pub async fn fork(
    services: &Services,
    id: &SessionId,
    after: Option<&MessageId>,
) -> Result<Session, ServiceError> {
    let parent = services.store.session(id).await?.ok_or_else(ServiceError::no_session)?;
    let page = services.store.message_page(id, None, u32::MAX).await?;
    let mut copies = page.messages;
    if let Some(after) = after {
        let place = copies.iter().position(|message| message.message_id == *after);
        let place = place.ok_or_else(|| {
            let message = "There is no such message in this conversation.";
            ServiceError::refused(FailureCode::InvalidRequest, message)
        })?;
        copies.truncate(place + 1);
    }
    copies.retain(|message| message.state != MessageState::Streaming);
    for copy in &mut copies {
        // The turn stays with the conversation that it was sent to.
        copy.message_id = mint::message_id();
        copy.turn_id = None;
        if copy.state == MessageState::Waiting {
            copy.state = MessageState::Interrupted;
        }
    }
    let mut fork = new_row(parent.title, parent.agent, parent.workspace);
    fork.preview = parent.preview;
    services.store.fork_session(id, &fork, &copies).await?;
    services.registry.announce_as(Happened::Forked, &fork.session_id).await?;
    services.registry.announce(id).await?;
    services.store.session(&fork.session_id).await?.ok_or_else(ServiceError::no_session)
}

/// Changes title, pin or archive mark.
pub async fn patch(
    services: &Services,
    id: &SessionId,
    patch: SessionPatch,
) -> Result<Session, ServiceError> {
    let title = patch.title.map(checked_title).transpose()?;
    let patch = SessionPatch { title, ..patch };
    let touched = services.store.patch_session(id, &patch).await?;
    if touched.is_empty() {
        return Err(ServiceError::no_session());
    }
    announce_with_parents(services, &touched).await?;
    row(services, id).await
}

/// Deletes a conversation with all of its parts; for a while it can be brought back.
pub async fn delete(services: &Services, id: &SessionId) -> Result<(), ServiceError> {
    let parts = services.store.mark_deleted(id, Some(mint::now())).await?;
    if parts.is_empty() {
        return Err(ServiceError::no_session());
    }
    for part in &parts {
        services.registry.dismiss(part).await;
    }
    announce_with_parents(services, &parts).await
}

/// Brings a deleted conversation back.
pub async fn restore(services: &Services, id: &SessionId) -> Result<Session, ServiceError> {
    let parts = services.store.mark_deleted(id, None).await?;
    announce_with_parents(services, &parts).await?;
    services.store.session(id).await?.ok_or_else(ServiceError::no_session)
}

/// Shows rows in every open list, and those they hang on, which they may hide or no longer hide.
async fn announce_with_parents(
    services: &Services,
    rows: &[SessionId],
) -> Result<(), ServiceError> {
    let parents = services.store.parents_of(rows).await?;
    let others = parents.iter().filter(|parent| !rows.contains(parent));
    for id in rows.iter().chain(others) {
        services.registry.announce(id).await?;
    }
    Ok(())
}

/// Takes the unread mark off.
pub async fn mark_seen(services: &Services, id: &SessionId) -> Result<(), ServiceError> {
    if services.store.mark_unread(id, false).await? {
        services.registry.announce(id).await?;
    }
    Ok(())
}

/// Starts a conversation's agent if it does not run, and tells what it offers.
pub async fn roused_agent_facts(
    services: &Services,
    id: &SessionId,
) -> Result<AgentFacts, ServiceError> {
    services.registry.ask(id, TaskCommand::Rouse).await?.map_err(ServiceError)?;
    agent_facts(services, id).await
}

/// Tells what a conversation's agent tells of itself; one that does not run tells only its name.
pub async fn agent_facts(services: &Services, id: &SessionId) -> Result<AgentFacts, ServiceError> {
    row(services, id).await?;
    let facts = services.registry.desk(id).map(|desk| desk.facts()).unwrap_or_default();
    let stored = services.store.agent_session(id).await?;
    Ok(AgentFacts { agent_session: facts.agent_session.or(stored), ..facts })
}

/// Finds conversations by words of their titles and messages.
pub async fn search(services: &Services, words: &str) -> Result<Vec<SearchHit>, ServiceError> {
    let mut hits = Vec::new();
    for found in services.store.search(words, FOUND_AT_MOST).await? {
        let mut session = found.session;
        services.registry.show_on(&mut session);
        let snippet = found.snippet.into_iter().map(|(text, hit)| SnippetPiece { text, hit });
        hits.push(SearchHit { session, message_id: found.message_id, snippet: snippet.collect() });
    }
    Ok(hits)
}

/// Writes a title without breaks and with single spaces.
pub fn in_one_line(title: &str) -> String {
    title.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn checked_title(title: String) -> Result<String, ServiceError> {
    let title = in_one_line(&title);
    if title.chars().count() > LONGEST_TITLE {
        let message = "A title has at most 200 characters.";
        return Err(ServiceError::refused(FailureCode::InvalidRequest, message));
    }
    Ok(title)
}

/// Makes the row of a conversation that begins now.
pub fn new_row(title: String, agent: String, workspace: String) -> Session {
    let session_id = mint::session_id();
    let now = mint::now();
    Session {
        title,
        agent,
        workspace,
        parent_session_id: None,
        relation: None,
        pre_compression_snapshot: false,
        continuation_session_id: None,
        canonical_visible_session_id: Some(session_id.clone()),
        lineage_root_id: Some(session_id.clone()),
        lineage_tip_id: Some(session_id.clone()),
        segment_count: 1,
        status: Status::Idle,
        milestone: None,
        unread: false,
        open_questions: 0,
        preview: String::new(),
        message_count: 0,
        child_count: 0,
        sibling_count: 0,
        pinned: false,
        archived: false,
        created_at: now,
        last_activity_at: now,
        session_id,
    }
}
