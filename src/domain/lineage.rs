//! Roots, members, tips and leaves: which rows are one conversation, and in what order.
//!
//! A lineage is what continuation edges connect. An edge goes from a row to its
//! `parent_session_id`, or, where a row names no parent, to the snapshot that names it as its
//! continuation. An absent parent still connects its children.

mod forest;
mod node;

use std::cmp::Ordering;

use super::ids::SessionId;
use super::session::Relation;
use forest::{Forest, Mention, Role};

pub(super) use forest::{Entry, sort};
pub use node::Node;

/// What is true of a whole lineage.
#[derive(Clone, Copy, Default)]
pub(super) struct Lineage {
    pub tip: Option<usize>,
    /// How many of its rows are not snapshots; one, if all is well.
    pub live: u32,
    pub cyclic: bool,
    /// Its own edges form a cycle, so that they do not tell which row comes first.
    pub unordered: bool,
    pub duplicates: bool,
    pub parent_missing: bool,
}

/// The known rows, arranged once so that any number of questions are cheap.
pub struct Lineages<'rows> {
    forest: Forest<'rows>,
    /// By position of the root.
    lineages: Vec<Lineage>,
    complete: bool,
}

impl<'rows> Lineages<'rows> {
    /// Arranges rows; `complete` says that there are no others.
    pub fn new(rows: &'rows [Node], complete: bool) -> Self {
        let forest = Forest::grow(rows);
        let lineages = vec![Lineage::default(); forest.entries.len()];
        let mut built = Self { forest, lineages, complete };
        built.describe();
        built
    }

    /// Tells whether these are all the rows there are.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Finds a row, the most credible of its copies.
    pub fn get(&self, id: &str) -> Option<&'rows Node> {
        self.node(self.forest.find(id)?)
    }

    /// Tells how a row hangs on its parent, also where it does not say so itself.
    pub fn relation(&self, id: &str) -> Option<Relation> {
        self.entry(self.forest.find(id)?)?.relation
    }

    /// Names the root of the lineage that a row belongs to; it may be the id of an absent parent.
    pub fn root(&self, id: &str) -> Option<&'rows SessionId> {
        let root = self.entry(self.forest.find(id)?)?.root;
        Some(self.entry(root)?.id)
    }

    /// Lists the rows of the lineage that a row belongs to, oldest first.
    pub fn members(&self, id: &str) -> Vec<&'rows Node> {
        let row = self.forest.find(id).and_then(|position| self.entry(position));
        let Some(root) = row.map(|entry| entry.root) else { return Vec::new() };
        let entries = self.entries().iter().enumerate();
        let members = entries.filter(|(_, entry)| entry.root == root).map(|(position, _)| position);
        let ordered = sort(members.collect(), &|left, right| self.compare(left, right));
        ordered.into_iter().filter_map(|position| self.node(position)).collect()
    }

    /// Finds the newest row of a row's lineage that is not a snapshot.
    pub fn tip(&self, id: &str) -> Option<&'rows Node> {
        self.node(self.lineage_of(self.forest.find(id)?).tip?)
    }

    /// Tells whether no present row hangs on this one, be it by continuation or by fork.
    pub fn is_leaf(&self, id: &str) -> bool {
        self.forest
            .find(id)
            .and_then(|position| self.entry(position))
            .is_some_and(|entry| !entry.has_child)
    }

    /// Lists the rows that no other hangs on, in order of id.
    pub fn leaves(&self) -> impl Iterator<Item = &'rows Node> {
        self.entries().iter().filter(|entry| !entry.has_child).filter_map(|entry| entry.node)
    }

    pub(super) fn entries(&self) -> &[Entry<'rows>] {
        &self.forest.entries
    }

    pub(super) fn entry(&self, position: usize) -> Option<&Entry<'rows>> {
        self.forest.entries.get(position)
    }

    pub(super) fn node(&self, position: usize) -> Option<&'rows Node> {
        self.entry(position)?.node
    }

    pub(super) fn find(&self, id: &str) -> Option<usize> {
        self.forest.find(id)
    }

    pub(super) fn find_absent(&self, id: &str) -> Option<usize> {
        self.forest.find_absent(id)
    }

    pub(super) fn lineage_of(&self, position: usize) -> Lineage {
        let root = self.entry(position).map(|entry| entry.root);
        root.and_then(|root| self.lineages.get(root)).copied().unwrap_or_default()
    }

    /// Lists the rows that name an absent id as their continuation parent, then those that name it
    /// as their root, the newest of each first.
    pub(super) fn namers(&self, absent: usize) -> Vec<usize> {
        let by_role = |role: Role| {
            let namers = self.mentions_of(absent).filter(|mention| mention.role == role);
            let namers = namers.map(|mention| mention.namer).collect();
            sort(namers, &|left, right| self.compare(right, left))
        };
        let mut namers = by_role(Role::Parent);
        namers.extend(by_role(Role::Root));
        namers
    }

    /// Tells whether an absent id may be taken for a live row on the word of the server: a snapshot
    /// names it as its canonical row, and no row that is known comes after it.
    pub(super) fn is_vouched_for(&self, absent: usize) -> bool {
        !self.complete && self.mentions_of(absent).all(|it| it.role == Role::Canonical)
    }

    fn mentions_of(&self, absent: usize) -> impl Iterator<Item = &Mention> {
        let mentions = &self.forest.mentions;
        let first = mentions.partition_point(|mention| mention.absent < absent);
        mentions.iter().skip(first).take_while(move |mention| mention.absent == absent)
    }

    /// Orders rows of a lineage, oldest first. The depth along continuation edges comes before the
    /// stored segment, because servers store the number of parts of the whole lineage on each of
    /// its rows. Where edges form a cycle no depth is known and the stored number decides.
    pub(super) fn compare(&self, left: usize, right: usize) -> Ordering {
        let age = |position: usize| {
            let entry = self.entry(position)?;
            let depth = if self.lineage_of(position).unordered { 0 } else { entry.depth };
            let said = entry.node.map(|node| (node.segment, node.last_activity_at));
            Some((depth, said, entry.id))
        };
        age(left).cmp(&age(right))
    }

    /// Counts the continuation edges between two rows of one lineage.
    pub(super) fn distance(&self, left: usize, right: usize) -> Option<u32> {
        let (mut left, mut right) = (left, right);
        let mut edges = 0;
        while left != right {
            let (from, to) = (self.entry(left)?, self.entry(right)?);
            if from.depth >= to.depth {
                left = from.continues()?;
            } else {
                right = to.continues()?;
            }
            edges += 1;
        }
        Some(edges)
    }

    /// Gathers what is true of each lineage, then its tip, whose choice depends on that.
    fn describe(&mut self) {
        for entry in &self.forest.entries {
            let Some(lineage) = self.lineages.get_mut(entry.root) else { continue };
            lineage.live += u32::from(entry.node.is_some() && !entry.is_snapshot());
            lineage.cyclic |= entry.cut;
            lineage.unordered |= entry.cut && !entry.is_fork();
            lineage.duplicates |= entry.duplicate;
            lineage.parent_missing |= entry.continues().is_some_and(|it| it >= self.forest.present);
        }
        for (position, entry) in self.forest.entries.iter().enumerate() {
            if entry.node.is_none() || entry.is_snapshot() {
                continue;
            }
            let tip = self.lineage_of(position).tip;
            if tip.is_none_or(|tip| self.compare(tip, position).is_lt())
                && let Some(lineage) = self.lineages.get_mut(entry.root)
            {
                lineage.tip = Some(position);
            }
        }
    }
}
