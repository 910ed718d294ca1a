//! The index behind `Lineages`: every id once, in order, with its edges made into trees.
//!
//! Whatever the input, what stands here afterwards has no cycle and no dangling position, so that
//! everything built on it may simply climb.

use std::cmp::Ordering;

use crate::domain::ids::SessionId;
use crate::domain::session::Relation;

use super::node::Node;

/// One id and its place in the trees.
pub struct Entry<'rows> {
    pub id: &'rows SessionId,
    /// The row, unless the id is only named by others.
    pub node: Option<&'rows Node>,
    pub relation: Option<Relation>,
    /// The row it hangs on by either relation, after cycles were cut.
    pub parent: Option<usize>,
    /// The row that its `continuation_session_id` names, if that is present.
    pub continuation: Option<usize>,
    /// The top of its lineage: where climbing continuation edges ends.
    pub root: usize,
    /// The number of continuation edges up to the root.
    pub depth: u32,
    pub duplicate: bool,
    /// The edge to its parent closed a cycle and was removed.
    pub cut: bool,
    /// The edge to its parent is part of a cycle, so that it hides nobody.
    pub cyclic: bool,
    pub has_child: bool,
}

impl<'rows> Entry<'rows> {
    fn new(id: &'rows SessionId, node: Option<&'rows Node>) -> Self {
        Self {
            id,
            node,
            relation: None,
            parent: None,
            continuation: None,
            root: usize::MAX,
            depth: 0,
            duplicate: false,
            cut: false,
            cyclic: false,
            has_child: false,
        }
    }

    pub fn is_snapshot(&self) -> bool {
        self.node.is_some_and(|node| node.pre_compression_snapshot)
    }

    pub fn is_fork(&self) -> bool {
        self.relation == Some(Relation::Fork)
    }

    /// Tells whether it is a fork or, for want of its parent, cannot be known not to be one.
    fn may_be_fork(&self) -> bool {
        let names_parent = self.node.is_some_and(|node| node.parent_session_id.is_some());
        self.is_fork() || (self.relation.is_none() && names_parent)
    }

    /// Names the row it continues.
    pub fn continues(&self) -> Option<usize> {
        self.parent.filter(|_| self.relation == Some(Relation::Continuation))
    }
}

/// How a present row names an absent one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    Parent,
    Root,
    Canonical,
}

/// One naming of an absent id.
pub struct Mention {
    pub absent: usize,
    pub role: Role,
    pub namer: usize,
}

/// All ids: those of present rows in order, then those of absent ones in order.
pub struct Forest<'rows> {
    pub entries: Vec<Entry<'rows>>,
    pub present: usize,
    pub mentions: Vec<Mention>,
}

impl<'rows> Forest<'rows> {
    pub fn grow(rows: &'rows [Node]) -> Self {
        let entries = unique(rows);
        let mut forest = Self { present: entries.len(), entries, mentions: Vec::new() };
        forest.relate();
        forest.add_absent();
        forest.adopt();
        forest.cut_cycles();
        forest.measure();
        forest
    }

    /// Finds a present row.
    pub fn find(&self, id: &str) -> Option<usize> {
        let (present, _) = self.entries.split_at_checked(self.present)?;
        present.binary_search_by(|entry| entry.id.as_str().cmp(id)).ok()
    }

    /// Finds an id that is absent but named.
    pub fn find_absent(&self, id: &str) -> Option<usize> {
        let (_, absent) = self.entries.split_at_checked(self.present)?;
        let place = absent.binary_search_by(|entry| entry.id.as_str().cmp(id)).ok()?;
        Some(self.present + place)
    }

    fn find_named(&self, named: Option<&SessionId>) -> Option<usize> {
        named.and_then(|id| self.find(id.as_str()))
    }

    /// Decides the relation of every row and finds the rows that it names.
    fn relate(&mut self) {
        for position in 0..self.present {
            let Some(node) = self.entries.get(position).and_then(|entry| entry.node) else {
                continue;
            };
            let parent = self.find_named(node.parent_session_id.as_ref());
            let continuation = self.find_named(node.continuation_session_id.as_ref());
            let relation = node.relation.or_else(|| self.guess_relation(node, parent));
            if let Some(entry) = self.entries.get_mut(position) {
                entry.parent = parent;
                entry.continuation = continuation;
                entry.relation = relation;
            }
        }
    }

    /// Guesses the relation that a row does not say: a child of a snapshot is a continuation, a
    /// child of anything else a fork. What an absent parent was nobody knows, but a fork begins a
    /// lineage of its own and a continuation does not, so that the root tells, if the row names it.
    fn guess_relation(&self, node: &Node, parent: Option<usize>) -> Option<Relation> {
        node.parent_session_id.as_ref()?;
        let continues = match parent.and_then(|position| self.entries.get(position)) {
            Some(parent) => parent.is_snapshot(),
            None => *node.lineage_root_id.as_ref()? != node.session_id,
        };
        Some(if continues { Relation::Continuation } else { Relation::Fork })
    }

    /// Gives a place to every absent id that may be asked for because a row names it. A fork's
    /// word about a root is not heard: it starts a lineage of its own.
    fn add_absent(&mut self) {
        let mut named = Vec::new();
        for (position, entry) in self.entries.iter().enumerate() {
            let Some(node) = entry.node else { continue };
            let continues = entry.relation == Some(Relation::Continuation);
            let roles = [
                (node.parent_session_id.as_ref().filter(|_| continues), Role::Parent),
                (node.lineage_root_id.as_ref().filter(|_| !entry.is_fork()), Role::Root),
                (
                    node.canonical_visible_session_id.as_ref().filter(|_| entry.is_snapshot()),
                    Role::Canonical,
                ),
            ];
            for (id, role) in roles {
                let absent = id.filter(|id| *id != entry.id && self.find(id.as_str()).is_none());
                named.extend(absent.map(|id| (id, role, position)));
            }
        }
        let compare = |left, right| named.get(left).cmp(&named.get(right));
        let order = sort((0..named.len()).collect(), &compare);
        for (id, role, namer) in order.into_iter().filter_map(|place| named.get(place).copied()) {
            let known = self.entries.len() > self.present
                && self.entries.last().is_some_and(|last| last.id == id);
            if !known {
                self.entries.push(Entry::new(id, None));
            }
            let absent = self.entries.len() - 1;
            if let (Role::Parent, Some(entry)) = (role, self.entries.get_mut(namer)) {
                entry.parent = Some(absent);
            }
            self.mentions.push(Mention { absent, role, namer });
        }
    }

    /// Lets a row that names no parent continue the snapshot that names it as continuation. Forks
    /// adopt nobody, so that a new fork cannot draw rows out of a lineage that was there before.
    fn adopt(&mut self) {
        for position in 0..self.present {
            let Some(entry) = self.entries.get(position) else { continue };
            let names = entry.continuation.filter(|_| entry.is_snapshot() && !entry.may_be_fork());
            let Some(child) = names.and_then(|it| self.entries.get_mut(it)) else { continue };
            if names != Some(position) && child.parent.is_none() && !child.may_be_fork() {
                child.parent = Some(position);
                child.relation = Some(Relation::Continuation);
            }
        }
    }

    fn parent(&self, position: usize) -> Option<usize> {
        self.entries.get(position)?.parent
    }

    /// Removes one edge of every cycle of parents.
    fn cut_cycles(&mut self) {
        const NEVER: usize = usize::MAX;
        let mut met_from = vec![NEVER; self.entries.len()];
        for start in 0..self.entries.len() {
            let mut here = Some(start);
            while let Some(position) = here
                && let Some(met) = met_from.get_mut(position)
                && *met == NEVER
            {
                *met = start;
                here = self.parent(position);
            }
            let again = here.filter(|it| met_from.get(*it) == Some(&start));
            let oldest = again.and_then(|position| self.oldest_of_cycle(position));
            let mut member = oldest;
            while let Some(entry) = member.and_then(|it| self.entries.get_mut(it))
                && !entry.cyclic
            {
                entry.cyclic = true;
                member = entry.parent;
            }
            if let Some(entry) = oldest.and_then(|it| self.entries.get_mut(it)) {
                entry.parent = None;
                entry.cut = true;
            }
        }
        for position in 0..self.entries.len() {
            let hides = self.entries.get(position).filter(|entry| !entry.cyclic);
            let parent = hides.and_then(|entry| entry.parent);
            if let Some(entry) = parent.and_then(|it| self.entries.get_mut(it)) {
                entry.has_child = true;
            }
        }
    }

    /// Picks the row of a cycle that shall be its top: a fork where there is one, because its edge
    /// holds no lineage together, else the oldest by what the rows say of themselves.
    fn oldest_of_cycle(&self, start: usize) -> Option<usize> {
        let following = |position: &usize| self.parent(*position).filter(|it| *it != start);
        std::iter::successors(Some(start), following).min_by_key(|position| {
            let entry = self.entries.get(*position)?;
            let node = entry.node?;
            Some((!entry.is_fork(), node.segment, node.last_activity_at, entry.id))
        })
    }

    /// Finds the root and the depth of every id.
    fn measure(&mut self) {
        let mut path = Vec::new();
        for start in 0..self.entries.len() {
            let mut here = Some(start);
            let mut above = None;
            while let Some(entry) = here.and_then(|position| self.entries.get(position)) {
                if entry.root != usize::MAX {
                    above = Some((entry.root, entry.depth + 1));
                    break;
                }
                path.extend(here);
                here = entry.continues();
            }
            while let Some(position) = path.pop() {
                let (root, depth) = above.unwrap_or((position, 0));
                if let Some(entry) = self.entries.get_mut(position) {
                    entry.root = root;
                    entry.depth = depth;
                }
                above = Some((root, depth + 1));
            }
        }
    }
}

/// Puts the rows in order of id and keeps one of each, the most credible.
fn unique(rows: &[Node]) -> Vec<Entry<'_>> {
    let order =
        sort((0..rows.len()).collect(), &|left, right| match (rows.get(left), rows.get(right)) {
            (Some(left), Some(right)) => {
                left.session_id.cmp(&right.session_id).then_with(|| right.compare_credit(left))
            }
            _ => left.cmp(&right),
        });
    let mut entries: Vec<Entry> = Vec::with_capacity(rows.len());
    for node in order.into_iter().filter_map(|place| rows.get(place)) {
        match entries.last_mut().filter(|last| *last.id == node.session_id) {
            Some(last) => last.duplicate = true,
            None => entries.push(Entry::new(&node.session_id, Some(node))),
        }
    }
    entries
}

/// Orders positions by a comparison of what stands there. Everything here sorts by this one
/// function, because each type that is sorted costs the browser kilobytes of code.
pub fn sort(mut positions: Vec<usize>, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    positions.sort_unstable_by(|left, right| compare(*left, *right));
    positions
}
