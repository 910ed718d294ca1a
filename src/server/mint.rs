//! New ids and the present time, for the parts of the server that make something new.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::domain::ids::{Epoch, InvalidId, MessageId, SessionId, TurnId};
use crate::domain::time::Timestamp;

/// Reads the wall clock.
pub fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

pub fn session_id() -> SessionId {
    mint(SessionId::parse)
}

pub fn message_id() -> MessageId {
    mint(MessageId::parse)
}

/// Names a turn that the server itself begins.
pub fn turn_id() -> TurnId {
    mint(TurnId::parse)
}

pub fn epoch() -> Epoch {
    mint(Epoch::parse)
}

/// Mints ids that sort by the time they were made.
fn mint<T>(parse: impl Fn(&str) -> Result<T, InvalidId>) -> T {
    loop {
        let text = uuid::Uuid::now_v7().simple().to_string();
        if let Ok(id) = parse(&text) {
            return id;
        }
    }
}
