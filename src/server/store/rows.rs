//! Converts between stored columns and the types of the domain.

use serde::Serialize;
use serde::de::DeserializeOwned;
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::StoreError;
use crate::domain::ids::{MessageId, SessionId, TurnId};
use crate::domain::message::Message;
use crate::domain::session::{Session, Status};
use crate::domain::time::Timestamp;

/// The columns that `session` reads, in one place so that no query forgets one. The last three are
/// looked up: the newest part of the lineage that is not a snapshot, how many parts there are, and
/// how many answers wait for a person although no agent runs.
macro_rules! session_columns {
    () => {
        "session.session_id, session.title, session.agent, session.workspace, \
         session.parent_session_id, session.relation, session.snapshot, \
         session.continuation_session_id, session.lineage_root_id, session.failed, \
         session.milestone, session.unread, session.preview, session.message_count, session.pinned, \
         session.archived, session.created_at, session.last_activity_at, session.child_count, \
         COALESCE((SELECT parent.child_count - session.hides_parent FROM sessions AS parent \
           WHERE parent.session_id = session.parent_session_id \
           AND parent.session_id <> session.session_id), 0) AS sibling_count, \
         (SELECT tip.session_id FROM sessions AS tip \
           WHERE tip.lineage_root_id = session.lineage_root_id AND tip.snapshot = 0 \
           AND tip.deleted_at IS NULL \
           ORDER BY tip.segment DESC LIMIT 1) AS lineage_tip_id, \
         (SELECT part.segment FROM sessions AS part \
           WHERE part.lineage_root_id = session.lineage_root_id \
           ORDER BY part.segment DESC LIMIT 1) AS segment_count, \
         (SELECT COUNT(*) FROM messages AS waiting \
           WHERE waiting.session_id = session.session_id AND waiting.state = 'waiting') \
         AS open_questions"
    };
}
pub(super) use session_columns;

/// Selects the columns that `message` and `message_in_session` read.
macro_rules! select_messages {
    ($condition:literal) => {
        concat!(
            "SELECT session_id, message_id, turn_id, role, state, parts, usage, created_at, \
             ended_at, recovered, withdrawn FROM messages WHERE ",
            $condition
        )
    };
}
pub(super) use select_messages;

pub(super) fn session(row: &SqliteRow) -> Result<Session, StoreError> {
    let session_id: SessionId = required(row, "session_id")?;
    let lineage_tip_id: Option<SessionId> = optional(row, "lineage_tip_id")?;
    let snapshot = flag(row, "snapshot")?;
    let open_questions = count(row, "open_questions")?;
    let canonical = if snapshot { lineage_tip_id.clone() } else { Some(session_id.clone()) };
    Ok(Session {
        title: text(row, "title")?,
        agent: text(row, "agent")?,
        workspace: text(row, "workspace")?,
        parent_session_id: optional(row, "parent_session_id")?,
        relation: word(row, "relation")?,
        pre_compression_snapshot: snapshot,
        continuation_session_id: optional(row, "continuation_session_id")?,
        canonical_visible_session_id: canonical.or_else(|| Some(session_id.clone())),
        lineage_root_id: optional(row, "lineage_root_id")?,
        lineage_tip_id,
        segment_count: count(row, "segment_count")?,
        status: match (open_questions, flag(row, "failed")?) {
            (1.., _) => Status::Waiting,
            (0, true) => Status::Error,
            (0, false) => Status::Idle,
        },
        milestone: word(row, "milestone")?,
        unread: flag(row, "unread")?,
        open_questions,
        preview: text(row, "preview")?,
        message_count: count(row, "message_count")?,
        child_count: count(row, "child_count")?,
        sibling_count: count(row, "sibling_count")?,
        pinned: flag(row, "pinned")?,
        archived: flag(row, "archived")?,
        created_at: time(number(row, "created_at")?),
        last_activity_at: time(number(row, "last_activity_at")?),
        session_id,
    })
}

pub(super) fn sessions(found: &[SqliteRow]) -> Result<Vec<Session>, StoreError> {
    found.iter().map(session).collect()
}

pub(super) fn message(row: &SqliteRow) -> Result<Message, StoreError> {
    let usage = optional_text(row, "usage")?;
    Ok(Message {
        message_id: required::<MessageId>(row, "message_id")?,
        turn_id: optional::<TurnId>(row, "turn_id")?,
        role: from_word("role", &text(row, "role")?)?,
        state: from_word("state", &text(row, "state")?)?,
        parts: from_json("message", &text(row, "parts")?)?,
        usage: usage.map(|text| from_json("usage", &text)).transpose()?,
        created_at: time(number(row, "created_at")?),
        ended_at: optional_number(row, "ended_at")?.map(time),
        recovered: flag(row, "recovered")?,
    })
}

pub(super) fn message_in_session(row: &SqliteRow) -> Result<(SessionId, Message), StoreError> {
    Ok((required(row, "session_id")?, message(row)?))
}

/// Writes an enum without fields as the word it has on the wire.
pub(super) fn to_word<T: Serialize>(value: &T) -> Result<String, StoreError> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Ok(word),
        _ => Err(StoreError::Corrupt { what: "word", reason: "it is not a plain word".into() }),
    }
}

pub(super) fn to_json<T: Serialize>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| corrupt("value", &error))
}

fn from_word<T: DeserializeOwned>(what: &'static str, word: &str) -> Result<T, StoreError> {
    serde_json::from_value(serde_json::Value::String(word.to_owned()))
        .map_err(|error| corrupt(what, &error))
}

pub(super) fn from_json<T: DeserializeOwned>(
    what: &'static str,
    text: &str,
) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| corrupt(what, &error))
}

fn word<T: DeserializeOwned>(
    row: &SqliteRow,
    column: &'static str,
) -> Result<Option<T>, StoreError> {
    let word = optional_text(row, column)?;
    word.map(|word| from_word(column, &word)).transpose()
}

pub(super) fn required<T>(row: &SqliteRow, column: &'static str) -> Result<T, StoreError>
where
    T: TryFrom<String>,
    T::Error: std::fmt::Display,
{
    let text = text(row, column)?;
    T::try_from(text).map_err(|error| corrupt(column, &error))
}

fn optional<T>(row: &SqliteRow, column: &'static str) -> Result<Option<T>, StoreError>
where
    T: TryFrom<String>,
    T::Error: std::fmt::Display,
{
    let text = optional_text(row, column)?;
    text.map(|text| T::try_from(text).map_err(|error| corrupt(column, &error))).transpose()
}

fn text(row: &SqliteRow, column: &'static str) -> Result<String, StoreError> {
    optional_text(row, column)?.ok_or_else(|| corrupt(column, &"it is empty"))
}

fn optional_text(row: &SqliteRow, column: &'static str) -> Result<Option<String>, StoreError> {
    Ok(row.try_get(column)?)
}

fn number(row: &SqliteRow, column: &'static str) -> Result<i64, StoreError> {
    optional_number(row, column)?.ok_or_else(|| corrupt(column, &"it is empty"))
}

fn optional_number(row: &SqliteRow, column: &'static str) -> Result<Option<i64>, StoreError> {
    Ok(row.try_get(column)?)
}

fn flag(row: &SqliteRow, column: &'static str) -> Result<bool, StoreError> {
    Ok(number(row, column)? != 0)
}

fn count(row: &SqliteRow, column: &'static str) -> Result<u32, StoreError> {
    u32::try_from(number(row, column)?).map_err(|error| corrupt(column, &error))
}

fn time(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

fn corrupt(what: &'static str, reason: &dyn std::fmt::Display) -> StoreError {
    StoreError::Corrupt { what, reason: reason.to_string() }
}
