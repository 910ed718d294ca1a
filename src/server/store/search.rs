//! Full-text search over titles and messages.

use std::collections::HashSet;

use rusqlite::{Transaction, params};
use sqlx::{Row, query};

use super::rows::{self, message_columns, session_columns};
use super::{Store, StoreError};
use crate::domain::ids::{MessageId, SessionId};
use crate::domain::message::{Message, MessageState, Part, Role};
use crate::domain::session::Session;

/// How many of the newest matches are ranked. A word that stands nearly everywhere would otherwise
/// cost as much as the whole store.
const RANKED: i64 = 500;

/// Frames the words that matched, in a snippet as SQLite gives it.
const MARK_START: char = '\u{2}';
const MARK_END: char = '\u{3}';

/// One place where words were found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub session: Session,
    /// The message that holds the words; none when it is the title.
    pub message_id: Option<MessageId>,
    /// Pieces of the text around the words, and whether each is one of them.
    pub snippet: Vec<(String, bool)>,
}

impl Store {
    /// Finds conversations by words of their titles and messages, best first, each once.
    pub async fn search(&self, text: &str, limit: usize) -> Result<Vec<Found>, StoreError> {
        let Some(wanted) = match_expression(text) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        for entry_id in self.ranked(&wanted).await? {
            if found.len() == limit {
                break;
            }
            if let Some(it) = self.found(&wanted, entry_id).await?
                && seen.insert(it.session.lineage_root_id.clone())
            {
                found.push(it);
            }
        }
        Ok(found)
    }

    /// Makes the prompts findable that were stored since the last call. A person does not wait for
    /// it, and a start makes up for what a crash left out.
    pub async fn index_waiting(&self) -> Result<(), StoreError> {
        self.write(|transaction| {
            let mut statement = transaction.prepare_cached(concat!(
                "SELECT ",
                message_columns!(),
                " FROM messages WHERE unindexed = 1"
            ))?;
            let mut waiting = statement.query([])?;
            while let Some(row) = waiting.next()? {
                index(transaction, &rows::required(row, "session_id")?, &rows::message(row)?)?;
            }
            transaction
                .prepare_cached("UPDATE messages SET unindexed = 0 WHERE unindexed = 1")?
                .execute([])?;
            Ok(())
        })
        .await
    }

    /// Ranks the newest matches; a title weighs more than a message.
    async fn ranked(&self, wanted: &str) -> Result<Vec<i64>, StoreError> {
        let rows = query(
            "SELECT newest.entry_id FROM (SELECT rowid AS entry_id, rank AS score FROM search \
             WHERE search MATCH $1 ORDER BY rowid DESC LIMIT $2) AS newest \
             JOIN search_entries AS entry ON entry.entry_id = newest.entry_id \
             ORDER BY newest.score * CASE WHEN entry.message_id = '' THEN 3 ELSE 1 END, \
             newest.entry_id DESC",
        )
        .bind(wanted)
        .bind(RANKED)
        .fetch_all(&mut *self.readers.lend().await?)
        .await?;
        rows.iter().map(|row| Ok(row.try_get("entry_id")?)).collect()
    }

    async fn found(&self, wanted: &str, entry_id: i64) -> Result<Option<Found>, StoreError> {
        let row = query(concat!(
            "SELECT ",
            session_columns!(),
            ", entry.message_id AS found_in, \
             snippet(search, 0, char(2), char(3), '…', 14) AS snippet FROM search \
             JOIN search_entries AS entry ON entry.entry_id = search.rowid \
             JOIN sessions AS session ON session.session_id = entry.session_id \
             WHERE search MATCH $1 AND search.rowid = $2 AND session.deleted_at IS NULL"
        ))
        .bind(wanted)
        .bind(entry_id)
        .fetch_optional(&mut *self.readers.lend().await?)
        .await?;
        row.map(|row| {
            let found_in: String = row.try_get("found_in")?;
            Ok(Found {
                session: rows::session(&row)?,
                message_id: MessageId::parse(&found_in).ok(),
                snippet: pieces(row.try_get("snippet")?),
            })
        })
        .transpose()
    }
}

/// Makes what a person typed a query for all of its words, the last of which may be unfinished.
/// Everything that has a meaning to the search engine is quoted away.
fn match_expression(text: &str) -> Option<String> {
    const MOST_WORDS: usize = 12;
    let words: Vec<_> = text
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(MOST_WORDS)
        .map(|word| format!("\"{word}\""))
        .collect();
    let unfinished = text.chars().next_back().is_some_and(char::is_alphanumeric);
    match words.is_empty() {
        true => None,
        false if unfinished => Some(format!("{}*", words.join(" "))),
        false => Some(words.join(" ")),
    }
}

fn pieces(snippet: &str) -> Vec<(String, bool)> {
    let mut pieces = Vec::new();
    for (place, outside) in snippet.split(MARK_START).enumerate() {
        let (hit, rest) = match outside.split_once(MARK_END) {
            Some((hit, rest)) if place > 0 => (hit, rest),
            _ => ("", outside),
        };
        for (text, is_hit) in [(hit, true), (rest, false)] {
            if !text.is_empty() {
                pieces.push((text.to_owned(), is_hit));
            }
        }
    }
    pieces
}

/// Makes a message that has come to its end findable by its words.
pub(super) fn index(
    transaction: &Transaction<'_>,
    session_id: &SessionId,
    message: &Message,
) -> Result<(), StoreError> {
    let words = words_of(message);
    if words.trim().is_empty() {
        return Ok(());
    }
    forget(transaction, session_id.as_str(), &message.message_id)?;
    transaction
        .prepare_cached("INSERT INTO search_entries (session_id, message_id) VALUES (?1, ?2)")?
        .execute([session_id.as_str(), message.message_id.as_str()])?;
    transaction
        .prepare_cached("INSERT INTO search (rowid, words) VALUES (?1, ?2)")?
        .execute(params![transaction.last_insert_rowid(), words])?;
    Ok(())
}

/// Makes a message unfindable.
pub(super) fn forget(
    transaction: &Transaction<'_>,
    session_id: &str,
    message_id: &MessageId,
) -> Result<(), StoreError> {
    transaction
        .prepare_cached("DELETE FROM search_entries WHERE session_id = ?1 AND message_id = ?2")?
        .execute([session_id, message_id.as_str()])?;
    Ok(())
}

/// Gives what people said and read; the summary that begins a continuation would only double it.
fn words_of(message: &Message) -> String {
    if message.state == MessageState::Streaming || message.role == Role::System {
        return String::new();
    }
    let words: Vec<_> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text } => Some(text.as_str()),
            Part::Attachment(file) => Some(file.name.as_str()),
            _ => None,
        })
        .collect();
    words.join("\n")
}
