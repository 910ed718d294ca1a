//! A data directory without a server, in which a test plants what a crash could have left.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;
use tempfile::TempDir;
use throughline::domain::ids::{MessageId, SessionId, TurnId};
use throughline::domain::message::{Message, MessageState, Part, Role};
use throughline::domain::time::Timestamp;
use throughline::server::store::Store;
use throughline::wire::journal::{Record, Submission, TurnEvent};

use crate::test_app::TestApp;

/// When planted things happened, in seconds since 1970.
pub const LONG_AGO: f64 = 1_700_000_000.25;

pub struct AtRest {
    pub data: TempDir,
    pub workspace: TempDir,
    pub session_id: SessionId,
}

impl AtRest {
    /// Makes a data directory with one empty conversation.
    pub async fn new() -> Self {
        let app = TestApp::start().await;
        let id = app.new_session().await;
        Self::stop(app, &id).await
    }

    pub async fn stop(app: TestApp, session_id: &str) -> Self {
        let (data, workspace) = app.stop().await;
        Self { data, workspace, session_id: SessionId::parse(session_id).unwrap() }
    }

    pub async fn start(self) -> TestApp {
        TestApp::start_with(self.data, self.workspace).await
    }

    /// Writes records at the end of the conversation's journal.
    pub fn journal(&self, records: &[Record]) {
        let lines: Vec<_> = records.iter().map(|record| record.to_line().unwrap()).collect();
        let mut bytes = fs::read(self.journal_file()).unwrap_or_default();
        bytes.extend(lines.concat().bytes());
        self.plant(&format!("{}.jsonl", self.session_id), &bytes);
    }

    /// Puts a file into the journal's folder.
    pub fn plant(&self, name: &str, bytes: &[u8]) {
        fs::write(self.data.path().join("_turn_journal").join(name), bytes).unwrap();
    }

    pub fn journal_file(&self) -> PathBuf {
        self.data.path().join("_turn_journal").join(format!("{}.jsonl", self.session_id))
    }

    /// Saves messages of the conversation, as a server would have before it died.
    pub async fn store(&self, messages: &[Message]) {
        let store = Store::open(self.data.path()).await.unwrap();
        for message in messages {
            store.save_message(&self.session_id, message).await.unwrap();
        }
        store.close().await;
    }
}

pub fn submission(content: &str) -> TurnEvent {
    TurnEvent::Submitted(Submission {
        content: content.into(),
        attachments: Vec::new(),
        workspace: "/workspace".into(),
        model: None,
        model_provider: None,
    })
}

pub fn completed() -> TurnEvent {
    TurnEvent::Completed { assistant_message_id: None }
}

pub fn interrupted() -> TurnEvent {
    TurnEvent::Interrupted { reason: Some("planted".into()) }
}

/// Makes the records of one turn.
pub fn turn(session: &SessionId, turn_id: &str, at: f64, events: &[TurnEvent]) -> Vec<Record> {
    let turn_id = TurnId::parse(turn_id).unwrap();
    events.iter().map(|event| Record::new(&turn_id, session, at, event.clone())).collect()
}

pub fn prompt(turn_id: &str, text: &str) -> Message {
    message(turn_id, Role::User, MessageState::Complete, text)
}

pub fn answer(turn_id: &str, state: MessageState, text: &str) -> Message {
    message(turn_id, Role::Assistant, state, text)
}

fn message(turn_id: &str, role: Role, state: MessageState, text: &str) -> Message {
    let parts = if text.is_empty() { vec![] } else { vec![Part::Text { text: text.into() }] };
    let at = Timestamp::from_seconds(LONG_AGO);
    Message {
        message_id: MessageId::parse(&format!("{turn_id}-{role:?}")).unwrap(),
        turn_id: Some(TurnId::parse(turn_id).unwrap()),
        role,
        state,
        parts,
        usage: None,
        created_at: at,
        ended_at: (state != MessageState::Streaming).then_some(at),
        recovered: false,
    }
}

/// Reads the steps that a journal file tells of, as words.
pub fn steps_in(bytes: &[u8]) -> Vec<String> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let words = lines.map(|line| {
        let line: Value = serde_json::from_slice(line).unwrap();
        line["event"].as_str().unwrap().to_owned()
    });
    words.collect()
}
