//! The addresses of conversations, written in one place.

use leptos_router::NavigateOptions;

use crate::domain::ids::SessionId;
use crate::domain::session::Session;

/// The address of a conversation.
pub fn of_session(id: &SessionId) -> String {
    ["/session/", id.as_str()].concat()
}

/// The address at which a row is shown: a record in the archive, all else as a conversation.
pub fn of_row(row: &Session) -> String {
    let place = if row.pre_compression_snapshot { "/archive/" } else { "/session/" };
    [place, row.session_id.as_str()].concat()
}

/// Puts an address in place of the present one, for corrections that Back must not lead to.
pub fn replacing() -> NavigateOptions {
    NavigateOptions { replace: true, ..NavigateOptions::default() }
}
