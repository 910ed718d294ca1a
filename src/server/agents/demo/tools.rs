//! The tools of the demo agent: each starts, shows what it found or did, and ends in words.

use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::conversation::{Conversation, Stop};
use super::directive::Tool;
use crate::domain::message::{ToolOutput, ToolState};
use crate::server::agents::workspace::{Listing, Refusal, Running, Workspace};

pub(super) async fn call(conversation: &mut Conversation, tool: Tool) -> Result<(), Stop> {
    match tool {
        Tool::List(path) => list(conversation, &path).await.map(drop),
        Tool::Read(path) => {
            let target = path.clone();
            look(conversation, "read", &target, move |workspace| workspace.read(&path)).await
        }
        Tool::Search(text) => {
            let target = text.clone();
            look(conversation, "search", &target, move |workspace| workspace.search(&text)).await
        }
        Tool::Edit { path, old, new } => edit(conversation, Edit { path, old, new }).await,
        Tool::Run(command) => run(conversation, &command).await,
    }
}

/// Lists a folder; the listing is given back for those who want to talk about it.
pub(super) async fn list(
    conversation: &mut Conversation,
    path: &str,
) -> Result<Option<Listing>, Stop> {
    let tool_id = conversation.start_tool("list", path).await?;
    let wanted = path.to_owned();
    match on_disk(conversation, move |workspace| workspace.list(&wanted)).await {
        Ok(listing) => {
            conversation.show(&tool_id, text(listing.text.clone())).await?;
            conversation.end_tool(&tool_id, ToolState::Done).await?;
            Ok(Some(listing))
        }
        Err(refusal) => refuse(conversation, &tool_id, &refusal).await.map(|()| None),
    }
}

/// Shows a text that the workspace gives.
async fn look(
    conversation: &mut Conversation,
    name: &str,
    target: &str,
    work: impl FnOnce(&Workspace) -> Result<String, Refusal> + Send + 'static,
) -> Result<(), Stop> {
    let tool_id = conversation.start_tool(name, target).await?;
    match on_disk(conversation, work).await {
        Ok(found) => {
            conversation.show(&tool_id, text(found)).await?;
            conversation.end_tool(&tool_id, ToolState::Done).await
        }
        Err(refusal) => refuse(conversation, &tool_id, &refusal).await,
    }
}

struct Edit {
    path: String,
    old: String,
    new: String,
}

/// Edits a file after asking; what cannot be done is refused before anybody is asked.
async fn edit(conversation: &mut Conversation, edit: Edit) -> Result<(), Stop> {
    let Edit { path, old, new } = edit;
    let tool_id = conversation.start_tool("edit", &path).await?;
    let (checked_path, checked_old) = (path.clone(), old.clone());
    let check = move |workspace: &Workspace| workspace.check_edit(&checked_path, &checked_old);
    if let Err(refusal) = on_disk(conversation, check).await {
        return refuse(conversation, &tool_id, &refusal).await;
    }
    let title = format!("Edit {path}?");
    let detail = format!("Replace\n\n{old}\n\nby\n\n{new}");
    if !conversation.may("edit", &title, &detail).await? {
        return conversation.end_tool(&tool_id, ToolState::Skipped).await;
    }
    match on_disk(conversation, move |workspace| workspace.edit(&path, &old, &new)).await {
        Ok(diff) => {
            conversation.show(&tool_id, diff).await?;
            conversation.end_tool(&tool_id, ToolState::Done).await
        }
        Err(refusal) => refuse(conversation, &tool_id, &refusal).await,
    }
}

async fn run(conversation: &mut Conversation, command: &str) -> Result<(), Stop> {
    let tool_id = conversation.start_tool("run", command).await?;
    if !conversation.may("run", "Run this command?", command).await? {
        return conversation.end_tool(&tool_id, ToolState::Skipped).await;
    }
    match on_disk(conversation, Workspace::folder).await {
        Ok(folder) => match Running::start(&folder, command) {
            Ok(running) => follow(conversation, &tool_id, running).await,
            Err(error) => fail(conversation, &tool_id, format!("It did not start: {error}")).await,
        },
        Err(refusal) => refuse(conversation, &tool_id, &refusal).await,
    }
}

/// Shows what a command writes until it ends or its time is up.
async fn follow(
    conversation: &mut Conversation,
    tool_id: &str,
    mut running: Running,
) -> Result<(), Stop> {
    let limit = conversation.command_limit;
    let ended = timeout(limit, async {
        while let Some(piece) = running.piece().await {
            conversation.show(tool_id, text(piece)).await?;
        }
        Ok(running.end().await)
    })
    .await;
    let rest = running.stop();
    let reason = match ended {
        Ok(Err(stop)) => return Err(stop),
        Ok(Ok(Ok(status))) if status.success() => {
            return conversation.end_tool(tool_id, ToolState::Done).await;
        }
        Ok(Ok(Ok(status))) => format!("It ended with {status}.\n"),
        Ok(Ok(Err(error))) => format!("It was lost: {error}\n"),
        Err(_) => format!("It was stopped after {} s.\n", limit.as_secs_f64()),
    };
    if let Some(rest) = rest {
        conversation.show(tool_id, text(rest)).await?;
    }
    fail(conversation, tool_id, reason).await
}

async fn refuse(
    conversation: &mut Conversation,
    tool_id: &str,
    refusal: &Refusal,
) -> Result<(), Stop> {
    fail(conversation, tool_id, refusal.to_string()).await
}

async fn fail(conversation: &mut Conversation, tool_id: &str, reason: String) -> Result<(), Stop> {
    conversation.show(tool_id, text(reason)).await?;
    conversation.end_tool(tool_id, ToolState::Failed).await
}

/// Does file work away from the runtime's own threads, each piece in one go: a stopped turn leaves
/// a file as it was or as it was to be.
async fn on_disk<Found: Send + 'static>(
    conversation: &Conversation,
    work: impl FnOnce(&Workspace) -> Result<Found, Refusal> + Send + 'static,
) -> Result<Found, Refusal> {
    let workspace = conversation.workspace.clone();
    spawn_blocking(move || work(&workspace))
        .await
        .unwrap_or_else(|error| Err(Refusal::Unfinished(error.to_string())))
}

fn text(text: String) -> ToolOutput {
    ToolOutput::Text { text }
}
