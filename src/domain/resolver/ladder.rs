//! The ladder: from a snapshot to the live row of its conversation.

use crate::domain::ids::SessionId;
use crate::domain::lineage::Lineages;

use super::resolution::{Anomalies, Anomaly};

/// The live row of a conversation.
#[derive(Clone, Copy)]
pub struct Tip<'rows> {
    pub id: &'rows SessionId,
    /// Its place, unless it is not loaded and trusted on the word of the server.
    pub position: Option<usize>,
    pub hops: u32,
}

/// What is wrong with a row that a field names, by field.
struct Faults {
    absent: Anomaly,
    snapshot: Anomaly,
    fork: Anomaly,
}

const CANONICAL: Faults = Faults {
    absent: Anomaly::DanglingCanonical,
    snapshot: Anomaly::CanonicalIsSnapshot,
    fork: Anomaly::CanonicalIsFork,
};

const TIP: Faults = Faults {
    absent: Anomaly::DanglingTip,
    snapshot: Anomaly::TipIsSnapshot,
    fork: Anomaly::TipIsFork,
};

/// One ascent, which starts at a snapshot.
pub struct Ladder<'ladder, 'rows> {
    pub lineages: &'ladder Lineages<'rows>,
    pub start: usize,
    pub anomalies: &'ladder mut Anomalies,
}

impl<'rows> Ladder<'_, 'rows> {
    /// Finds the live row by the first rung that yields one. The later rungs are tried as well, so
    /// that what is wrong with them is reported.
    pub fn climb(&mut self) -> Option<Tip<'rows>> {
        let node = self.lineages.node(self.start)?;
        let canonical = self.canonical(node.canonical_visible_session_id.as_ref());
        let chained = self.chain();
        let named = self.named(node.lineage_tip_id.as_ref(), &TIP);
        let connected = self.lineages.lineage_of(self.start).tip;
        let connected = connected.and_then(|position| self.tip(position, 1));
        let mut found = canonical.or(chained).or(named).or(connected)?;
        if let Some(position) = found.position {
            let edges = self.lineages.distance(self.start, position);
            let outside = edges.is_none() && self.lineages.is_complete();
            self.anomalies.add_if(outside, Anomaly::OutsideLineage);
            found.hops = edges.unwrap_or(found.hops);
        }
        Some(found)
    }

    /// Rung (a): the row that the server named, loaded or not.
    fn canonical(&mut self, id: Option<&'rows SessionId>) -> Option<Tip<'rows>> {
        let trusted = |id: &&SessionId| {
            let absent = self.lineages.find_absent(id.as_str());
            absent.is_some_and(|position| self.lineages.is_vouched_for(position))
        };
        match id.filter(trusted) {
            Some(id) => Some(Tip { id, position: None, hops: 1 }),
            None => self.named(id, &CANONICAL),
        }
    }

    /// Rung (b): the first live row along `continuation_session_id`.
    fn chain(&mut self) -> Option<Tip<'rows>> {
        let mut here = self.start;
        let mut steps = 0;
        // A walk of more steps than there are rows has met one of them twice.
        for _ in self.lineages.entries() {
            let entry = self.lineages.entry(here)?;
            let Some(next) = entry.continuation else {
                let dangles = entry.node?.continuation_session_id.is_some();
                let dangles = dangles && self.lineages.is_complete();
                self.anomalies.add_if(dangles, Anomaly::DanglingContinuation);
                return None;
            };
            if self.leads_into_fork(next) {
                self.anomalies.add(Anomaly::ContinuationIsFork);
                return None;
            }
            steps += 1;
            if !self.lineages.entry(next)?.is_snapshot() {
                return self.tip(next, steps);
            }
            here = next;
        }
        self.anomalies.add(Anomaly::Cycle);
        None
    }

    /// Accepts the row that a field names if it is present and live. A snapshot that names itself
    /// merely says that it knows of no other.
    fn named(&mut self, id: Option<&SessionId>, faults: &Faults) -> Option<Tip<'rows>> {
        let id = id?;
        let Some(position) = self.lineages.find(id.as_str()) else {
            self.anomalies.add_if(self.lineages.is_complete(), faults.absent);
            return None;
        };
        if position == self.start {
            return None;
        }
        if self.leads_into_fork(position) {
            self.anomalies.add(faults.fork);
            return None;
        }
        if self.lineages.entry(position)?.is_snapshot() {
            self.anomalies.add(faults.snapshot);
            return None;
        }
        self.tip(position, 1)
    }

    /// Tells whether a row belongs to a fork that is not the conversation of the start itself.
    fn leads_into_fork(&self, position: usize) -> bool {
        let root_of = |position| self.lineages.entry(position).map(|entry| entry.root);
        let root = root_of(position);
        root != root_of(self.start)
            && root.and_then(|root| self.lineages.entry(root)).is_some_and(|root| root.is_fork())
    }

    fn tip(&self, position: usize, steps: u32) -> Option<Tip<'rows>> {
        let id = self.lineages.entry(position)?.id;
        Some(Tip { id, position: Some(position), hops: steps })
    }
}
