//! What one conversation with the demo agent remembers, and the one way by which it speaks.

use std::collections::BTreeSet;
use std::time::Duration;

use tokio::sync::mpsc;
use uuid::Uuid;

use super::ledger::Ledger;
use super::resume::{ALLOW_ONCE, Recall};
use super::{Answer, Demo};
use crate::domain::ids::{RequestId, SessionId};
use crate::domain::message::{
    Choice, ChoiceTone, NoticeLevel, Question, ToolOutput, ToolState, Usage,
};
use crate::server::agents::agent::{Ending, Happening};
use crate::server::agents::words::one_line;
use crate::server::agents::workspace::Workspace;

/// Says why a turn did not run to its end.
#[derive(Debug)]
pub(super) enum Stop {
    Cancelled,
    Failed(String),
    /// Nobody listens any more, or the agent plays dead: there is nothing left to say.
    Left,
}

pub(super) struct Conversation {
    pub(super) workspace: Workspace,
    pub(super) pace: Duration,
    pub(super) command_limit: Duration,
    pub(super) ledger: Ledger,
    pub(super) recall: Recall,
    session_id: String,
    happenings: mpsc::Sender<Happening>,
    answers: mpsc::UnboundedReceiver<Answer>,
    /// White space that waits for words to follow it; absent unless words came just before, so
    /// that a blank between two directives never becomes a part of its own.
    gap: Option<String>,
    tools: u64,
    questions: u64,
    open_tool: Option<String>,
    allowed: BTreeSet<&'static str>,
}

impl Conversation {
    pub(super) fn new(
        session_id: &SessionId,
        workspace: Workspace,
        demo: Demo,
        happenings: mpsc::Sender<Happening>,
        answers: mpsc::UnboundedReceiver<Answer>,
    ) -> Self {
        Self {
            workspace,
            pace: demo.pace,
            command_limit: demo.command_limit,
            ledger: Ledger::default(),
            recall: Recall::default(),
            session_id: session_id.to_string(),
            happenings,
            answers,
            gap: None,
            tools: 0,
            questions: 0,
            open_tool: None,
            allowed: BTreeSet::new(),
        }
    }

    /// Sends what is not words.
    pub(super) async fn send(&mut self, happening: Happening) -> Result<(), Stop> {
        self.gap = None;
        self.happenings.send(happening).await.map_err(|_| Stop::Left)
    }

    /// Says a text word by word at the pace.
    pub(super) async fn say(&mut self, text: &str) -> Result<(), Stop> {
        for word in words(text) {
            self.say_word(word).await?;
            self.rest().await;
        }
        Ok(())
    }

    /// Says one word at once.
    pub(super) async fn say_word(&mut self, word: &str) -> Result<(), Stop> {
        if word.trim().is_empty() {
            if let Some(gap) = &mut self.gap {
                gap.push_str(word);
            }
            return Ok(());
        }
        let piece = format!("{}{word}", self.gap.take().unwrap_or_default());
        self.ledger.count_said();
        self.send(Happening::Text(piece)).await?;
        self.gap = Some(String::new());
        Ok(())
    }

    /// Thinks a text word by word at the pace.
    pub(super) async fn think(&mut self, text: &str) -> Result<(), Stop> {
        for word in words(text) {
            self.ledger.count_said();
            self.send(Happening::Thinking(word.to_owned())).await?;
            self.rest().await;
        }
        Ok(())
    }

    async fn rest(&self) {
        if !self.pace.is_zero() {
            tokio::time::sleep(self.pace).await;
        }
    }

    pub(super) async fn notice(&mut self, level: NoticeLevel, text: String) -> Result<(), Stop> {
        self.send(Happening::Notice { level, text }).await
    }

    /// Begins a tool call; it counts as open until it is ended.
    pub(super) async fn start_tool(&mut self, name: &str, target: &str) -> Result<String, Stop> {
        self.tools += 1;
        let tool_id = format!("{}-t{}", self.session_id, self.tools);
        let started = Happening::ToolStarted {
            tool_id: tool_id.clone(),
            name: name.to_owned(),
            target: one_line(target),
        };
        self.send(started).await?;
        self.open_tool = Some(tool_id.clone());
        Ok(tool_id)
    }

    pub(super) async fn show(&mut self, tool_id: &str, output: ToolOutput) -> Result<(), Stop> {
        self.send(Happening::ToolOutput { tool_id: tool_id.to_owned(), output }).await
    }

    pub(super) async fn end_tool(&mut self, tool_id: &str, state: ToolState) -> Result<(), Stop> {
        self.open_tool = None;
        self.send(Happening::ToolEnded { tool_id: tool_id.to_owned(), state }).await
    }

    /// Asks a question and waits for one of its options.
    pub(super) async fn ask(
        &mut self,
        title: &str,
        detail: &str,
        options: Vec<Choice>,
    ) -> Result<Choice, Stop> {
        let given = self.recall.take();
        let given = options.iter().find(|choice| Some(&choice.option) == given.as_ref());
        if let Some(choice) = given {
            return Ok(choice.clone());
        }
        let request_id = self.next_request()?;
        let question = Question {
            request_id: request_id.clone(),
            title: title.to_owned(),
            detail: detail.to_owned(),
            options: options.clone(),
            answer: None,
        };
        self.send(Happening::Question(question)).await?;
        loop {
            let (answered, option) = self.answers.recv().await.ok_or(Stop::Left)?;
            let chosen = options.iter().find(|choice| choice.option == option);
            if let Some(choice) = chosen.filter(|_| answered == request_id) {
                self.send(Happening::Answered { request_id, option }).await?;
                return Ok(choice.clone());
            }
        }
    }

    /// Says whether the person lets a tool go on, and remembers "always" for this handle.
    pub(super) async fn may(
        &mut self,
        tool: &'static str,
        title: &str,
        detail: &str,
    ) -> Result<bool, Stop> {
        if self.allowed.contains(tool) {
            return Ok(true);
        }
        let options = [
            (ALLOW_ONCE, "Allow once", ChoiceTone::Allow),
            ("allow_always", "Always allow in this conversation", ChoiceTone::Allow),
            ("reject", "Reject", ChoiceTone::Reject),
        ];
        let options = options.map(|(option, label, tone)| Choice {
            option: option.to_owned(),
            label: label.to_owned(),
            tone,
        });
        let choice = self.ask(title, detail, options.to_vec()).await?;
        if choice.option == "allow_always" {
            self.allowed.insert(tool);
        }
        Ok(choice.tone == ChoiceTone::Allow)
    }

    /// Names the next question; the uuid keeps the name unique when the session is opened anew and
    /// the counter starts over, for an answer may outlive the handle it was meant for.
    fn next_request(&mut self) -> Result<RequestId, Stop> {
        self.questions += 1;
        let name = format!("q{}-{}", self.questions, Uuid::now_v7());
        RequestId::parse(&name).map_err(|invalid| Stop::Failed(invalid.to_string()))
    }

    pub(super) async fn compact(&mut self) -> Result<(), Stop> {
        let summary = self.ledger.compact();
        self.send(Happening::Compacted { summary }).await
    }

    /// Ends what a job began: the open tool, the numbers, and the turn itself.
    pub(super) async fn close(&mut self, result: Result<(), Stop>) -> Result<(), Stop> {
        if matches!(result, Err(Stop::Left)) {
            return Err(Stop::Left);
        }
        if let Some(tool_id) = self.open_tool.take() {
            self.end_tool(&tool_id, ToolState::Skipped).await?;
        }
        if let Some(usage) = self.ledger.close() {
            self.usage(usage).await?;
        }
        let ending = match result {
            Ok(()) => Ending::Completed,
            Err(Stop::Failed(message)) => {
                self.send(Happening::Failed { phase: "prompt".to_owned(), message }).await?;
                Ending::Failed
            }
            Err(Stop::Cancelled | Stop::Left) => Ending::Cancelled,
        };
        self.send(Happening::Ended(ending)).await
    }

    pub(super) async fn usage(&mut self, usage: Usage) -> Result<(), Stop> {
        self.send(Happening::Usage(usage)).await
    }
}

/// Cuts a text into words, each with the white space after it; the first also has what is before.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let start = rest.find(|character: char| !character.is_whitespace()).unwrap_or(rest.len());
        let word = rest.get(start..)?;
        let space = word.find(char::is_whitespace).unwrap_or(word.len());
        let after = word.get(space..)?;
        let next = after.find(|character: char| !character.is_whitespace()).unwrap_or(after.len());
        let (piece, left) = rest.split_at(start + space + next);
        rest = left;
        (!piece.is_empty()).then_some(piece)
    })
}
