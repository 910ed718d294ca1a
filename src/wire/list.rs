//! Views of the session list and the trees behind it, the same through every door.

use serde::{Deserialize, Serialize};

use super::rest::SessionPage;
use crate::domain::ids::SessionId;
pub use crate::domain::list::ListView;
use crate::domain::session::Session;

/// Asks for a page of a list; what is left out has a default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ListQuery {
    pub view: ListView,
    /// Lists the rows that branches were made of beside the leaves.
    pub include_forks: bool,
    pub limit: Option<u32>,
    pub cursor: Option<String>,
}

/// How many rows each view has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct ViewCounts {
    pub leaves: u32,
    pub visible: u32,
    pub archived: u32,
    pub all: u32,
}

/// What the app's list begins with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Overview {
    /// The newest rows of the view; further pages follow with `next_cursor`.
    pub page: SessionPage,
    /// What runs, waits for an answer or is pinned, wherever it stands. Rows of the page are not
    /// repeated; those of later pages may be.
    pub always: Vec<Session>,
    pub counts: ViewCounts,
}

/// What a person does with rows of the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RowAction {
    Rename(String),
    Pin(bool),
    Archive(bool),
    Delete,
    /// Brings back what was deleted.
    Restore,
}

/// Asks for trees; what is left out has a default.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TreeQuery {
    /// The row to begin with; without it, the newest of those that hang on nothing.
    pub root_id: Option<SessionId>,
    /// How many generations below the roots are told.
    pub max_depth: Option<u32>,
    pub limit: Option<u32>,
    pub cursor: Option<String>,
}

/// A row with the rows that hang on it, oldest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TreeNode {
    #[serde(flatten)]
    pub session: Session,
    pub children: Vec<TreeNode>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionTrees {
    pub trees: Vec<TreeNode>,
    /// Whether rows below were left out, because of `max_depth` or because there are too many.
    pub truncated: bool,
    pub next_cursor: Option<String>,
}
