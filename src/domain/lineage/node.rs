//! What the resolver needs to know of a row, read leniently: rows come from older servers,
//! imports and files that people wrote by hand.

use std::cmp::Ordering;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::domain::ids::SessionId;
use crate::domain::session::{Relation, Session};
use crate::domain::time::Timestamp;

/// One row as far as lineage is concerned. A field that is absent, null or of another type than
/// expected counts as not said; only `session_id` must be there.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "Wire")]
pub struct Node {
    pub session_id: SessionId,
    pub parent_session_id: Option<SessionId>,
    pub relation: Option<Relation>,
    pub pre_compression_snapshot: bool,
    pub continuation_session_id: Option<SessionId>,
    pub canonical_visible_session_id: Option<SessionId>,
    pub lineage_root_id: Option<SessionId>,
    pub lineage_tip_id: Option<SessionId>,
    pub segment: Option<u32>,
    pub last_activity_at: Option<Timestamp>,
}

impl Node {
    /// Makes a row that says nothing but its id.
    pub fn new(session_id: SessionId) -> Self {
        Self {
            session_id,
            parent_session_id: None,
            relation: None,
            pre_compression_snapshot: false,
            continuation_session_id: None,
            canonical_visible_session_id: None,
            lineage_root_id: None,
            lineage_tip_id: None,
            segment: None,
            last_activity_at: None,
        }
    }

    /// Orders two copies of one row by how much they are to be believed: a snapshot first, because
    /// compression is never undone, then the newer, then the one that says more. Every field takes
    /// part, so that copies which compare equal are equal.
    pub(super) fn compare_credit(&self, other: &Self) -> Ordering {
        let continues = |node: &Self| node.relation.map(|it| it == Relation::Continuation);
        self.pre_compression_snapshot
            .cmp(&other.pre_compression_snapshot)
            .then_with(|| self.last_activity_at.cmp(&other.last_activity_at))
            .then_with(|| self.segment.cmp(&other.segment))
            .then_with(|| continues(self).cmp(&continues(other)))
            .then_with(|| self.named().cmp(&other.named()))
    }

    fn named(&self) -> [Option<&SessionId>; 5] {
        [
            self.parent_session_id.as_ref(),
            self.continuation_session_id.as_ref(),
            self.canonical_visible_session_id.as_ref(),
            self.lineage_root_id.as_ref(),
            self.lineage_tip_id.as_ref(),
        ]
    }
}

impl From<&Session> for Node {
    fn from(session: &Session) -> Self {
        Self {
            session_id: session.session_id.clone(),
            parent_session_id: session.parent_session_id.clone(),
            relation: session.relation,
            pre_compression_snapshot: session.pre_compression_snapshot,
            continuation_session_id: session.continuation_session_id.clone(),
            canonical_visible_session_id: session.canonical_visible_session_id.clone(),
            lineage_root_id: session.lineage_root_id.clone(),
            lineage_tip_id: session.lineage_tip_id.clone(),
            segment: Some(session.segment_count),
            last_activity_at: Some(session.last_activity_at),
        }
    }
}

/// The row as it is written, before its values are judged.
#[derive(Deserialize)]
struct Wire {
    session_id: SessionId,
    #[serde(default)]
    parent_session_id: Loose,
    #[serde(default)]
    relation: Loose,
    #[serde(default)]
    pre_compression_snapshot: Loose,
    #[serde(default)]
    continuation_session_id: Loose,
    #[serde(default)]
    canonical_visible_session_id: Loose,
    #[serde(default, rename = "_lineage_root_id")]
    lineage_root_id: Loose,
    #[serde(default, rename = "_lineage_tip_id")]
    lineage_tip_id: Loose,
    #[serde(default, rename = "_compression_segment_count")]
    segment: Loose,
    #[serde(default)]
    last_activity_at: Loose,
}

impl From<Wire> for Node {
    fn from(wire: Wire) -> Self {
        Self {
            session_id: wire.session_id,
            parent_session_id: wire.parent_session_id.id(),
            relation: wire.relation.relation(),
            pre_compression_snapshot: wire.pre_compression_snapshot.flag(),
            continuation_session_id: wire.continuation_session_id.id(),
            canonical_visible_session_id: wire.canonical_visible_session_id.id(),
            lineage_root_id: wire.lineage_root_id.id(),
            lineage_tip_id: wire.lineage_tip_id.id(),
            segment: wire.segment.count(),
            last_activity_at: wire.last_activity_at.time(),
        }
    }
}

/// A value of whatever type; lists and objects count as nothing.
#[derive(Default)]
enum Loose {
    #[default]
    Nothing,
    Flag(bool),
    Number(f64),
    Text(String),
}

impl Loose {
    fn id(self) -> Option<SessionId> {
        match self {
            Self::Text(text) => SessionId::try_from(text).ok(),
            _ => None,
        }
    }

    fn relation(self) -> Option<Relation> {
        match self {
            Self::Text(text) if text == "continuation" => Some(Relation::Continuation),
            Self::Text(text) if text == "fork" => Some(Relation::Fork),
            _ => None,
        }
    }

    /// Reads a flag, also where a database wrote it as a number.
    fn flag(self) -> bool {
        match self {
            Self::Flag(flag) => flag,
            Self::Number(number) => number != 0.0,
            _ => false,
        }
    }

    fn count(self) -> Option<u32> {
        match self {
            Self::Number(number) if number >= 0.0 => Some(number as u32),
            _ => None,
        }
    }

    fn time(self) -> Option<Timestamp> {
        match self {
            Self::Text(text) => Timestamp::parse(&text),
            Self::Number(seconds) => {
                Some(Timestamp::from_millis((seconds * 1000.0).round() as i64))
            }
            _ => None,
        }
    }
}

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LooseVisitor)
    }
}

struct LooseVisitor;

impl<'de> Visitor<'de> for LooseVisitor {
    type Value = Loose;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Loose, E> {
        Ok(Loose::Nothing)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Loose, E> {
        Ok(Loose::Flag(flag))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Loose, E> {
        Ok(Loose::Number(number as f64))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Loose, E> {
        Ok(Loose::Number(number as f64))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Loose, E> {
        Ok(Loose::Number(number))
    }

    fn visit_str<E>(self, text: &str) -> Result<Loose, E> {
        Ok(Loose::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Loose, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Loose::Nothing)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Loose, A::Error> {
        while object.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Loose::Nothing)
    }
}
