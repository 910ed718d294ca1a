//! The pure middle: what a session, a message and an event are, and how they change.
//!
//! Rule at the door: std, serde and its JSON only. No clock, no IO, no `cfg`, nothing of ours from outside,
//! so that server and browser run the same bytes.

pub mod event;
pub mod growing;
pub mod highlight;
pub mod ids;
pub mod lineage;
pub mod list;
pub mod listing;
pub mod live;
pub mod markdown;
pub mod message;
pub mod replay;
pub mod resolver;
pub mod session;
pub mod tagged;
pub mod time;
pub mod turn;
pub mod window;
