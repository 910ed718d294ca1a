//! The one place that decides which row is shown: a request and the known rows in, a resolution out.
//!
//! Every entry point asks here, and so does the sidebar; nothing else may choose a row.

mod ladder;
mod resolution;

use super::ids::SessionId;
use super::lineage::{Lineages, Node, sort};
use ladder::{Ladder, Tip};
use resolution::Anomalies;

pub use resolution::{Anomaly, Outcome, Resolution};

/// Says where a requested id came from; carried for logs, it never changes the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryPoint {
    Route,
    Query,
    Storage,
    Sidebar,
    DirectOpen,
    Boot,
}

/// Says what a person wants with the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    Navigate,
    /// Look at an archived record as such.
    Inspect,
}

/// One question to the resolver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request<'id> {
    /// The text as it was supplied; nothing, if no entry point supplied any.
    pub id: Option<&'id str>,
    pub entry_point: EntryPoint,
    pub intent: Intent,
}

/// What the places that a page may find an id in hold when it starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Supplied<'id> {
    pub route: Option<&'id str>,
    /// The query's `session`.
    pub session: Option<&'id str>,
    /// The query's `session_id`.
    pub session_id: Option<&'id str>,
    pub storage: Option<&'id str>,
}

/// Picks the requested id at boot: route, then `?session=`, then `?session_id=`, then localStorage.
/// A place that holds only blanks supplied nothing; one that holds nonsense did, and is answered.
pub fn requested_at_boot<'id>(supplied: &Supplied<'id>) -> Request<'id> {
    let places = [
        (supplied.route, EntryPoint::Route),
        (supplied.session, EntryPoint::Query),
        (supplied.session_id, EntryPoint::Query),
        (supplied.storage, EntryPoint::Storage),
    ];
    let filled = |id: &&str| !id.trim().is_empty();
    let found = places.into_iter().find(|(id, _)| id.as_ref().is_some_and(filled));
    let (id, entry_point) = found.unwrap_or((None, EntryPoint::Boot));
    Request { id, entry_point, intent: Intent::Navigate }
}

/// Answers one request; `complete` says that there are no other rows.
pub fn resolve(request: &Request, rows: &[Node], complete: bool) -> Resolution {
    resolve_in(request, &Lineages::new(rows, complete))
}

/// Answers one of many requests about rows that were arranged before.
pub fn resolve_in(request: &Request, lineages: &Lineages) -> Resolution {
    let Some(text) = request.id else {
        return Resolution::without_row(Outcome::Nothing, None);
    };
    let Ok(id) = SessionId::parse(text) else {
        return Resolution::without_row(Outcome::Invalid, Some(text));
    };
    let mut anomalies = Anomalies::default();
    let answer = match lineages.find(text) {
        Some(position) => resolve_present(lineages, position, request.intent, &mut anomalies),
        None => resolve_absent(lineages, &id, &mut anomalies),
    };
    let Some(Answer { outcome, shown, canonical, hops }) = answer else {
        let outcome = if lineages.is_complete() { Outcome::Missing } else { Outcome::AskServer };
        return Resolution::without_row(outcome, Some(text));
    };
    Resolution {
        outcome,
        requested: Some(text.to_owned()),
        session_id: Some(shown.clone()),
        canonical_visible_session_id: Some(canonical.clone()),
        hops,
        anomalies: anomalies.into_list(),
    }
}

/// A row of the sidebar with the earlier parts that it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visible<'rows> {
    pub row: &'rows Node,
    /// The snapshots that resolve to the row, oldest first.
    pub snapshots: Vec<&'rows Node>,
}

/// Lists the rows that resolve to themselves, in order of id.
pub fn visible<'rows>(lineages: &Lineages<'rows>) -> Vec<Visible<'rows>> {
    let target = |position: usize| {
        lineages.node(position)?;
        match live_row(lineages, position, &mut Anomalies::default()) {
            Some(tip) => tip.position,
            None => Some(position),
        }
    };
    let targets: Vec<Option<usize>> = (0..lineages.entries().len()).map(target).collect();
    let target = |position: usize| targets.get(position).copied().flatten();
    let order = sort((0..targets.len()).collect(), &|left, right| {
        target(left).cmp(&target(right)).then_with(|| lineages.compare(left, right))
    });
    let mut rows: Vec<Visible> = Vec::new();
    for position in order {
        let Some(row) = target(position).and_then(|it| lineages.node(it)) else { continue };
        if rows.last().is_none_or(|last| last.row.session_id != row.session_id) {
            rows.push(Visible { row, snapshots: Vec::new() });
        }
        let part = lineages.node(position).filter(|part| part.session_id != row.session_id);
        if let Some(last) = rows.last_mut() {
            last.snapshots.extend(part);
        }
    }
    rows
}

/// A row to show, before it is put into words.
struct Answer<'answer> {
    outcome: Outcome,
    shown: &'answer SessionId,
    canonical: &'answer SessionId,
    hops: u32,
}

/// Finds the row that ordinary navigation opens for a present row: itself, or a snapshot's tip.
fn live_row<'rows>(
    lineages: &Lineages<'rows>,
    start: usize,
    anomalies: &mut Anomalies,
) -> Option<Tip<'rows>> {
    let entry = lineages.entry(start)?;
    if entry.is_snapshot() {
        return Ladder { lineages, start, anomalies }.climb();
    }
    Some(Tip { id: entry.id, position: Some(start), hops: 0 })
}

fn resolve_present<'rows>(
    lineages: &Lineages<'rows>,
    position: usize,
    intent: Intent,
    anomalies: &mut Anomalies,
) -> Option<Answer<'rows>> {
    let row = lineages.entry(position)?;
    report_lineage(lineages, position, anomalies);
    report_root(lineages, position, anomalies);
    let tip = live_row(lineages, position, anomalies);
    let canonical = tip.map_or(row.id, |tip| tip.id);
    Some(match tip {
        Some(tip) if !row.is_snapshot() || intent == Intent::Navigate => {
            Answer { outcome: Outcome::Open, shown: tip.id, canonical, hops: tip.hops }
        }
        found => {
            anomalies.add_if(found.is_none(), Anomaly::OrphanSnapshot);
            Answer { outcome: Outcome::Inspect, shown: row.id, canonical, hops: 0 }
        }
    })
}

/// Answers for an absent id as the rows that come after it would. Where these are all snapshots
/// without a tip, the newest of them is the record that is left, unless the server may know more.
fn resolve_absent<'answer>(
    lineages: &Lineages<'answer>,
    id: &'answer SessionId,
    anomalies: &mut Anomalies,
) -> Option<Answer<'answer>> {
    let absent = lineages.find_absent(id.as_str())?;
    if lineages.is_vouched_for(absent) {
        return Some(Answer { outcome: Outcome::Open, shown: id, canonical: id, hops: 0 });
    }
    let namers = lineages.namers(absent);
    for namer in namers.iter().copied() {
        report_lineage(lineages, namer, anomalies);
        let Some(tip) = tip_after(lineages, namer, anomalies) else { continue };
        let edges = tip.position.and_then(|position| lineages.distance(absent, position));
        let hops = edges.unwrap_or(tip.hops + 1);
        return Some(Answer { outcome: Outcome::Open, shown: tip.id, canonical: tip.id, hops });
    }
    let record = namers.first().filter(|_| lineages.is_complete())?;
    let shown = lineages.entry(*record)?.id;
    anomalies.add(Anomaly::OrphanSnapshot);
    Some(Answer { outcome: Outcome::Inspect, shown, canonical: shown, hops: 1 })
}

/// Finds the tip of the lineage of a row that comes after an absent one. A row that is live stays
/// what it is when it is asked for, but it need not be the last of its lineage.
fn tip_after<'rows>(
    lineages: &Lineages<'rows>,
    namer: usize,
    anomalies: &mut Anomalies,
) -> Option<Tip<'rows>> {
    let named = live_row(lineages, namer, anomalies)?;
    if named.position != Some(namer) {
        return Some(named);
    }
    let tip = lineages.lineage_of(namer).tip?;
    let hops = lineages.distance(namer, tip)?;
    Some(Tip { id: lineages.entry(tip)?.id, position: Some(tip), hops })
}

fn report_lineage(lineages: &Lineages, position: usize, anomalies: &mut Anomalies) {
    let lineage = lineages.lineage_of(position);
    anomalies.add_if(lineage.duplicates, Anomaly::DuplicateId);
    anomalies.add_if(lineage.cyclic, Anomaly::Cycle);
    anomalies.add_if(lineage.parent_missing && lineages.is_complete(), Anomaly::ParentMissing);
    anomalies.add_if(lineage.live > 1, Anomaly::SeveralTips);
}

/// Compares the root that a row names with the one that its edges lead to.
fn report_root(lineages: &Lineages, position: usize, anomalies: &mut Anomalies) {
    let Some(entry) = lineages.entry(position) else { return };
    let said = entry.node.and_then(|node| node.lineage_root_id.as_ref());
    let root = lineages.entry(entry.root).map(|root| root.id);
    let disagrees = said.is_some() && said != root;
    anomalies.add_if(disagrees && lineages.is_complete(), Anomaly::RootDisagrees);
}
