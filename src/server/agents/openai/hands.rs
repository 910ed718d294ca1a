//! The hands that a model is lent: what it wants is checked, asked about, and done.

use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::reply::Call;
use super::tools::Use;
use super::work::Work;
use crate::domain::message::{ToolOutput, ToolState};
use crate::server::agents::agent::Happening;
use crate::server::agents::outputs::one_line;
use crate::server::agents::trace::head;
use crate::server::agents::workspace::{Refusal, Running, Workspace};
use crate::server::lock::lock;

/// How long a command may run.
const COMMAND_LIMIT: Duration = Duration::from_secs(600);

/// How much of what a tool gave a model is told.
const LONGEST_RESULT: usize = 32 << 10;

impl Work {
    /// Uses a tool, where the person allows it, and gives what the model is told about it.
    pub(super) async fn use_tool(&self, place: usize, call: &Call) -> String {
        let step = lock(&self.shared).history.messages().len();
        let tool_id = format!("{step}-{place}-{}", head(&call.id, 80));
        let wanted = match Use::read(call) {
            Ok(wanted) => wanted,
            Err(refusal) => {
                self.start_tool(&tool_id, &call.name, &call.arguments).await;
                return self.end_tool(&tool_id, ToolState::Failed, refusal).await;
            }
        };
        self.start_tool(&tool_id, wanted.name(), wanted.target()).await;
        if let Err(refusal) = self.check(&wanted).await {
            return self.end_tool(&tool_id, ToolState::Failed, refusal.to_string()).await;
        }
        if !self.may(&wanted).await {
            let told = "The person said no. Do not try it again in another way.";
            self.tell(Happening::ToolEnded { tool_id, state: ToolState::Skipped }).await;
            return told.to_owned();
        }
        if let Use::Run { command } = &wanted {
            return self.run_command(&tool_id, command).await;
        }
        match self.on_disk(move |workspace| do_on_disk(workspace, &wanted)).await {
            Ok(ToolOutput::Text { text }) => self.end_tool(&tool_id, ToolState::Done, text).await,
            Ok(diff) => {
                self.tell(Happening::ToolOutput { tool_id: tool_id.clone(), output: diff }).await;
                self.tell(Happening::ToolEnded { tool_id, state: ToolState::Done }).await;
                "It is done.".to_owned()
            }
            Err(refusal) => self.end_tool(&tool_id, ToolState::Failed, refusal.to_string()).await,
        }
    }

    /// Refuses what cannot be done before anybody is asked.
    async fn check(&self, wanted: &Use) -> Result<(), Refusal> {
        let wanted = wanted.clone();
        let check = move |workspace: &Workspace| match &wanted {
            Use::Create { path, .. } => workspace.check_create(path),
            Use::Edit { path, old, .. } => workspace.check_edit(path, old),
            _ => Ok(()),
        };
        self.on_disk(check).await
    }

    async fn may(&self, wanted: &Use) -> bool {
        let Some((kind, title, detail)) = wanted.question() else { return true };
        let asked = {
            let permissions = &mut lock(&self.shared).permissions;
            if permissions.is_allowed(kind) {
                return true;
            }
            permissions.ask(&title, &detail)
        };
        let Some((question, answer)) = asked else { return false };
        self.tell(Happening::Question(question)).await;
        match answer.await {
            Ok(option) => lock(&self.shared).permissions.judge(kind, &option),
            Err(_) => false,
        }
    }

    async fn run_command(&self, tool_id: &str, command: &str) -> String {
        let started = match self.on_disk(Workspace::folder).await {
            Ok(folder) => Running::start(&folder, command).map_err(|error| error.to_string()),
            Err(refusal) => Err(refusal.to_string()),
        };
        let mut running = match started {
            Ok(running) => running,
            Err(why) => {
                let said = format!("It did not start: {why}");
                return self.end_tool(tool_id, ToolState::Failed, said).await;
            }
        };
        let mut output = String::new();
        let ended = timeout(COMMAND_LIMIT, async {
            while let Some(piece) = running.piece().await {
                output.push_str(&piece);
                self.show(tool_id, piece).await;
            }
            running.end().await
        });
        let (state, remark) = match ended.await {
            Ok(Ok(status)) if status.success() => (ToolState::Done, String::new()),
            Ok(Ok(status)) => (ToolState::Failed, format!("It ended with {status}.")),
            Ok(Err(error)) => (ToolState::Failed, format!("It was lost: {error}")),
            Err(_) => {
                let limit = COMMAND_LIMIT.as_secs();
                (ToolState::Failed, format!("It was stopped after {limit} s."))
            }
        };
        drop(running);
        let said = self.end_tool(tool_id, state, remark).await;
        head(&format!("{output}{said}"), LONGEST_RESULT).to_owned()
    }

    async fn start_tool(&self, tool_id: &str, name: &str, target: &str) {
        let (tool_id, name, target) = (tool_id.to_owned(), name.to_owned(), one_line(target));
        self.tell(Happening::ToolStarted { tool_id, name, target }).await;
    }

    /// Shows the last that there is to show of a tool, and gives it as the model is told.
    async fn end_tool(&self, tool_id: &str, state: ToolState, said: String) -> String {
        if !said.is_empty() {
            self.show(tool_id, said.clone()).await;
        }
        self.tell(Happening::ToolEnded { tool_id: tool_id.to_owned(), state }).await;
        head(&said, LONGEST_RESULT).to_owned()
    }

    async fn show(&self, tool_id: &str, text: String) {
        let (tool_id, output) = (tool_id.to_owned(), ToolOutput::Text { text });
        self.tell(Happening::ToolOutput { tool_id, output }).await;
    }

    /// Does file work away from the runtime's own threads, each piece in one go.
    async fn on_disk<Found: Send + 'static>(
        &self,
        work: impl FnOnce(&Workspace) -> Result<Found, Refusal> + Send + 'static,
    ) -> Result<Found, Refusal> {
        let workspace = self.workspace.clone();
        spawn_blocking(move || work(&workspace))
            .await
            .unwrap_or_else(|error| Err(Refusal::Unfinished(error.to_string())))
    }
}

fn do_on_disk(workspace: &Workspace, wanted: &Use) -> Result<ToolOutput, Refusal> {
    let text = |text| ToolOutput::Text { text };
    match wanted {
        Use::Read { path } => workspace.read(path).map(text),
        Use::List { path } => workspace.list(path).map(|listing| text(listing.text)),
        Use::Search { text: wanted } => workspace.search(wanted).map(text),
        Use::Create { path, text } => workspace.create(path, text),
        Use::Edit { path, old, new } => workspace.edit(path, old, new),
        Use::Run { command } => Ok(text(command.clone())),
    }
}
