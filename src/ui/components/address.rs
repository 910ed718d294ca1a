//! The addresses of conversations, written in one place.

use leptos_router::NavigateOptions;

use crate::domain::ids::{MessageId, SessionId};
use crate::domain::session::Session;

/// The address of a conversation.
pub fn of_session(id: &SessionId) -> String {
    ["/session/", id.as_str()].concat()
}

/// The address that takes a prompt under a turn's id, from a page without script.
pub fn of_prompt(id: &SessionId, turn_id: &str) -> String {
    [&of_session(id), "/send/", turn_id].concat()
}

/// The address of a message in a conversation, or of the conversation alone.
pub fn of_message(id: &SessionId, message_id: Option<&MessageId>) -> String {
    match message_id {
        Some(message_id) => [&of_session(id), "?message=", message_id.as_str()].concat(),
        None => of_session(id),
    }
}

/// The address at which a row is shown: a record in the archive, all else as a conversation.
pub fn of_row(row: &Session) -> String {
    if row.pre_compression_snapshot {
        of_record(&row.session_id)
    } else {
        of_session(&row.session_id)
    }
}

/// The address of the record of an earlier part.
pub fn of_record(id: &SessionId) -> String {
    ["/archive/", id.as_str()].concat()
}

/// Puts an address in place of the present one, for corrections that Back must not lead to.
pub fn replacing() -> NavigateOptions {
    NavigateOptions { replace: true, ..NavigateOptions::default() }
}
