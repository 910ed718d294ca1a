//! The answer of the resolver, as it stands on the wire.

use serde::{Deserialize, Serialize};

use crate::domain::ids::SessionId;

/// Says what to do about a requested id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Show the conversation.
    Open,
    /// Show the row as a record that takes no prompt.
    Inspect,
    /// Say that the conversation is gone.
    Missing,
    /// Say that this is no id.
    Invalid,
    /// Let the server resolve: the rows at hand do not decide it.
    AskServer,
    /// Show the list: nothing was requested.
    Nothing,
}

/// Names what was wrong with the rows that an answer had to be found among. On the wire each is one
/// word; those about absent rows are found only where all rows are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Anomaly {
    /// Several rows of the lineage carry one id; the most credible was taken.
    DuplicateId,
    /// Parents or continuations lead back to where they began.
    Cycle,
    /// A row of the lineage continues one that does not exist.
    ParentMissing,
    /// More than one row of the lineage is not a snapshot.
    SeveralTips,
    /// The row names another root than its edges lead to.
    RootDisagrees,
    /// The canonical row does not exist.
    DanglingCanonical,
    /// The canonical row is another snapshot.
    CanonicalIsSnapshot,
    /// The canonical row belongs to a fork.
    CanonicalIsFork,
    /// The chain of continuations leads to a row that does not exist.
    DanglingContinuation,
    /// The chain of continuations leads into a fork.
    ContinuationIsFork,
    /// The tip that the row names does not exist.
    DanglingTip,
    /// The tip that the row names is another snapshot.
    TipIsSnapshot,
    /// The tip that the row names belongs to a fork.
    TipIsFork,
    /// Only the row's own word, and no edge, connects it with the answer.
    OutsideLineage,
    /// No live row could be found for the snapshot.
    OrphanSnapshot,
}

impl Anomaly {
    const ALL: [Self; 15] = [
        Self::DuplicateId,
        Self::Cycle,
        Self::ParentMissing,
        Self::SeveralTips,
        Self::RootDisagrees,
        Self::DanglingCanonical,
        Self::CanonicalIsSnapshot,
        Self::CanonicalIsFork,
        Self::DanglingContinuation,
        Self::ContinuationIsFork,
        Self::DanglingTip,
        Self::TipIsSnapshot,
        Self::TipIsFork,
        Self::OutsideLineage,
        Self::OrphanSnapshot,
    ];
}

/// A set of anomalies, one bit each.
#[derive(Default)]
pub struct Anomalies(u16);

impl Anomalies {
    pub fn add(&mut self, anomaly: Anomaly) {
        self.0 |= 1 << anomaly as u16;
    }

    pub fn add_if(&mut self, found: bool, anomaly: Anomaly) {
        if found {
            self.add(anomaly);
        }
    }

    pub fn into_list(self) -> Vec<Anomaly> {
        let held = |anomaly: &Anomaly| self.0 & (1 << *anomaly as u16) != 0;
        Anomaly::ALL.into_iter().filter(held).collect()
    }
}

/// The answer to one request; serialised, it is the object that every door gives out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resolution {
    pub outcome: Outcome,
    pub requested: Option<String>,
    /// The row to show.
    pub session_id: Option<SessionId>,
    /// Where ordinary navigation leads.
    pub canonical_visible_session_id: Option<SessionId>,
    /// How far the row shown is from the one requested: the continuation edges between them, or
    /// the steps that were taken where no edges connect them.
    pub hops: u32,
    /// In order of declaration, each once.
    pub anomalies: Vec<Anomaly>,
}

impl Resolution {
    pub(super) fn without_row(outcome: Outcome, requested: Option<&str>) -> Self {
        Self {
            outcome,
            requested: requested.map(str::to_owned),
            session_id: None,
            canonical_visible_session_id: None,
            hops: 0,
            anomalies: Vec::new(),
        }
    }
}
