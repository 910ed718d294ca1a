//! Whole conversations, to be kept or read elsewhere: all parts in order, attachments by name.

pub mod markdown;

use std::io::{self, Write};

use serde::Serialize;

use super::store::{Store, StoreError};
use crate::domain::ids::SessionId;
use crate::domain::lineage::{Lineages, Node};
use crate::domain::message::{Attachment, Message, Part};
use crate::domain::session::Session;

/// The version of the JSON form.
const VERSION: u32 = 1;

/// How many conversations are named at once.
const BATCH: u32 = 200;

#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("there is no conversation {0}")]
    Missing(SessionId),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the export could not be written: {0}")]
    Write(#[from] io::Error),
}

/// A conversation with everything that was said in it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Conversation {
    pub title: String,
    /// Oldest first.
    pub parts: Vec<ConversationPart>,
    /// The files that messages name; their bytes are `blobs/<blob>` in the data directory.
    pub attachments: Vec<Attachment>,
}

/// What was said in one stored row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConversationPart {
    pub session: Session,
    pub messages: Vec<Message>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Json,
    Markdown,
}

/// Reads the conversation that a row belongs to.
pub async fn read(store: &Store, id: &SessionId) -> Result<Conversation, ExportError> {
    let rows = store.lineage_rows(id).await?;
    let nodes: Vec<_> = rows.iter().map(Node::from).collect();
    let lineages = Lineages::new(&nodes, true);
    let known = rows.iter().find(|row| row.session_id == *id).or_else(|| rows.first());
    let start = known.ok_or_else(|| ExportError::Missing(id.clone()))?;
    let mut parts = Vec::new();
    for node in lineages.members(start.session_id.as_str()) {
        if let Some(row) = rows.iter().find(|row| row.session_id == node.session_id) {
            let messages = store.messages_of(&row.session_id).await?;
            parts.push(ConversationPart { session: row.clone(), messages });
        }
    }
    let title = parts.last().map(|part| part.session.title.clone()).unwrap_or_default();
    Ok(Conversation { title, attachments: attachments(&parts), parts })
}

fn attachments(parts: &[ConversationPart]) -> Vec<Attachment> {
    let mut named: Vec<Attachment> = Vec::new();
    let messages = parts.iter().flat_map(|part| &part.messages);
    for part in messages.flat_map(|message| &message.parts) {
        if let Part::Attachment(file) = part
            && !named.contains(file)
        {
            named.push(file.clone());
        }
    }
    named
}

/// Writes one conversation.
pub async fn write_one(
    store: &Store,
    id: &SessionId,
    format: Format,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let conversation = read(store, id).await?;
    let mut writer = Writer::begin(format, out)?;
    writer.add(&conversation)?;
    writer.end()
}

/// Writes all conversations, one after the other, and holds one of them at a time.
pub async fn write_all(
    store: &Store,
    format: Format,
    out: &mut dyn Write,
) -> Result<(), ExportError> {
    let mut writer = Writer::begin(format, out)?;
    let mut after = String::new();
    loop {
        let roots = store.lineage_roots(&after, BATCH).await?;
        let Some(last) = roots.last() else {
            return writer.end();
        };
        after.clone_from(last);
        for root in &roots {
            // A root that is no valid id leads nowhere, and so does one that went meanwhile.
            let Ok(root) = SessionId::parse(root) else { continue };
            match read(store, &root).await {
                Ok(conversation) => writer.add(&conversation)?,
                Err(ExportError::Missing(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
}

struct Writer<'out> {
    format: Format,
    out: &'out mut dyn Write,
    count: usize,
}

impl<'out> Writer<'out> {
    fn begin(format: Format, out: &'out mut dyn Write) -> Result<Self, ExportError> {
        if format == Format::Json {
            write!(out, "{{\"version\":{VERSION},\"conversations\":[")?;
        }
        Ok(Self { format, out, count: 0 })
    }

    fn add(&mut self, conversation: &Conversation) -> Result<(), ExportError> {
        let between = match (self.format, self.count) {
            (Format::Json, 0) => "\n",
            (Format::Json, _) => ",\n",
            (Format::Markdown, 0) => "",
            (Format::Markdown, _) => "\n",
        };
        self.out.write_all(between.as_bytes())?;
        self.count += 1;
        match self.format {
            Format::Json => {
                serde_json::to_writer(&mut *self.out, conversation).map_err(io::Error::from)?;
            }
            Format::Markdown => self.out.write_all(markdown::write(conversation).as_bytes())?,
        }
        Ok(())
    }

    fn end(self) -> Result<(), ExportError> {
        if self.format == Format::Json {
            self.out.write_all(b"\n]}\n")?;
        }
        Ok(self.out.flush()?)
    }
}
