//! Full-text search over titles and messages.
//!
//! A common word stands in half of all messages, so nothing here looks at all places where a word
//! stands: the engine yields them newest first, and the newest are ranked.

use std::collections::{HashMap, HashSet};

use sqlx::{Row, query};

use super::rank::{Wanted, words_of};
use super::rows::{self, session_columns, to_json};
use super::{Store, StoreError};
use crate::domain::ids::MessageId;
use crate::domain::session::Session;

/// How many matches are read at once, and how often: until enough conversations were met.
const BATCH: i64 = 400;
const MOST_BATCHES: usize = 5;

/// How many conversations are enough, and how many matches of one are weighed.
const ENOUGH: usize = 60;
const OF_EACH: usize = 4;

/// Frames the words that matched, in a snippet as SQLite gives it.
const MARK_START: char = '\u{2}';
const MARK_END: char = '\u{3}';

/// One place where words were found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub session: Session,
    /// The message that holds the words; none when it is the title.
    pub message_id: Option<MessageId>,
    /// Pieces of the text around the words, and whether each is one of them.
    pub snippet: Vec<(String, bool)>,
}

/// The newest matches before one, with the conversation that each belongs to.
macro_rules! newest_in {
    ($index:literal) => {
        concat!(
            "SELECT newest.entry_id, session.lineage_root_id, session.deleted_at FROM ( \
             SELECT rowid AS entry_id FROM ",
            $index,
            " WHERE ",
            $index,
            " MATCH $1 AND rowid < $2 ORDER BY rowid DESC LIMIT $3) AS newest \
             CROSS JOIN search_entries AS entry ON entry.entry_id = newest.entry_id \
             CROSS JOIN sessions AS session ON session.session_id = entry.session_id"
        )
    };
}

/// The beginnings of some texts; what a long one says later does not change its rank.
macro_rules! texts_in {
    ($index:literal) => {
        concat!(
            "SELECT entry.rowid AS entry_id, SUBSTR(entry.words, 1, 2000) AS words \
             FROM json_each($1) AS given CROSS JOIN ",
            $index,
            " AS entry ON entry.rowid = given.value"
        )
    };
}

/// Some matches as they are shown. The bounds keep the engine from going through all matches, the
/// plus from starting anew for each, and the limit from forgetting the order, newest first.
macro_rules! hits_in {
    ($index:literal) => {
        concat!(
            "SELECT ",
            session_columns!(),
            ", hit.entry_id, entry.message_id AS found_in, hit.snippet FROM ( \
             SELECT rowid AS entry_id, snippet(",
            $index,
            ", 0, char(2), char(3), '…', 14) AS snippet FROM ",
            $index,
            " WHERE ",
            $index,
            " MATCH $1 AND rowid BETWEEN $2 AND $3 \
             AND +rowid IN (SELECT value FROM json_each($4)) ORDER BY rowid DESC LIMIT $5) AS hit \
             CROSS JOIN search_entries AS entry ON entry.entry_id = hit.entry_id \
             CROSS JOIN sessions AS session ON session.session_id = entry.session_id"
        )
    };
}

pub(super) const NEWEST_TITLES: &str = newest_in!("search_titles");
pub(super) const NEWEST_MESSAGES: &str = newest_in!("search");
pub(super) const TITLES: &str = texts_in!("search_titles");
pub(super) const MESSAGES: &str = texts_in!("search");
pub(super) const TITLE_HITS: &str = hits_in!("search_titles");
pub(super) const MESSAGE_HITS: &str = hits_in!("search");

/// One of the two indexes and its statements.
#[derive(Clone, Copy)]
struct Index {
    titles: bool,
    newest: &'static str,
    texts: &'static str,
    hits: &'static str,
}

const INDEXES: [Index; 2] = [
    Index { titles: true, newest: NEWEST_TITLES, texts: TITLES, hits: TITLE_HITS },
    Index { titles: false, newest: NEWEST_MESSAGES, texts: MESSAGES, hits: MESSAGE_HITS },
];

/// A match and the conversation that it belongs to.
#[derive(Debug, Clone)]
struct Match {
    entry_id: i64,
    lineage: String,
    score: f64,
    title: bool,
}

impl Store {
    /// Finds conversations by words of their titles and messages, best first, each once.
    pub async fn search(&self, text: &str, limit: usize) -> Result<Vec<Found>, StoreError> {
        let Some(wanted) = Wanted::read(text) else {
            return Ok(Vec::new());
        };
        let expression = wanted.expression();
        let mut matches = Vec::new();
        for index in INDEXES {
            let mut newest = self.newest(index, &expression).await?;
            self.weigh(index, &wanted, &mut newest).await?;
            matches.extend(newest);
        }
        matches.sort_by(|left, right| {
            let by_score = right.score.total_cmp(&left.score);
            by_score.then_with(|| right.entry_id.cmp(&left.entry_id))
        });
        let mut seen = HashSet::new();
        matches.retain(|found| seen.insert(found.lineage.clone()));
        matches.truncate(limit);
        let mut shown = HashMap::new();
        for index in INDEXES {
            self.show(index, &expression, &matches, &mut shown).await?;
        }
        Ok(matches.iter().filter_map(|found| shown.remove(&found.entry_id)).collect())
    }

    /// Picks the newest matches, a few of each conversation.
    async fn newest(&self, index: Index, expression: &str) -> Result<Vec<Match>, StoreError> {
        let mut picked = Vec::new();
        let mut of_each: HashMap<String, usize> = HashMap::new();
        let mut before = i64::MAX;
        for _ in 0..MOST_BATCHES {
            let statement = query(index.newest).bind(expression).bind(before).bind(BATCH);
            let rows = self.read_all(statement).await?;
            for row in &rows {
                before = row.try_get("entry_id")?;
                if row.try_get::<Option<i64>, _>("deleted_at")?.is_some() {
                    continue;
                }
                let lineage: String = row.try_get("lineage_root_id")?;
                let count = of_each.entry(lineage.clone()).or_default();
                if *count < OF_EACH {
                    *count += 1;
                    let title = index.titles;
                    picked.push(Match { entry_id: before, lineage, score: 0.0, title });
                }
            }
            let all_seen = i64::try_from(rows.len()).is_ok_and(|count| count < BATCH);
            if all_seen || of_each.len() >= ENOUGH {
                break;
            }
        }
        Ok(picked)
    }

    /// Gives each match its score.
    async fn weigh(
        &self,
        index: Index,
        wanted: &Wanted<'_>,
        matches: &mut [Match],
    ) -> Result<(), StoreError> {
        let entries: Vec<_> = matches.iter().map(|found| found.entry_id).collect();
        let statement = query(index.texts).bind(to_json(&entries)?);
        let rows = self.read_all(statement).await?;
        let mut texts: HashMap<i64, &str> = HashMap::new();
        for row in &rows {
            texts.insert(row.try_get("entry_id")?, row.try_get("words")?);
        }
        let words: usize = texts.values().map(|text| words_of(text).count()).sum();
        let average = words as f64 / texts.len().max(1) as f64;
        for found in matches {
            let text = texts.get(&found.entry_id).copied().unwrap_or_default();
            found.score = wanted.score(text, index.titles, average);
        }
        Ok(())
    }

    /// Reads the sessions of matches and the words around them.
    async fn show(
        &self,
        index: Index,
        expression: &str,
        matches: &[Match],
        shown: &mut HashMap<i64, Found>,
    ) -> Result<(), StoreError> {
        let of_index = matches.iter().filter(|found| found.title == index.titles);
        let entries: Vec<_> = of_index.map(|found| found.entry_id).collect();
        let (Some(oldest), Some(newest)) = (entries.iter().min(), entries.iter().max()) else {
            return Ok(());
        };
        let statement = query(index.hits)
            .bind(expression)
            .bind(oldest)
            .bind(newest)
            .bind(to_json(&entries)?)
            .bind(i64::try_from(entries.len()).unwrap_or(i64::MAX));
        let rows = self.read_all(statement).await?;
        for row in &rows {
            let found_in: String = row.try_get("found_in")?;
            let found = Found {
                session: rows::session(row)?,
                message_id: MessageId::parse(&found_in).ok(),
                snippet: pieces(row.try_get("snippet")?),
            };
            shown.insert(row.try_get("entry_id")?, found);
        }
        Ok(())
    }
}

fn pieces(snippet: &str) -> Vec<(String, bool)> {
    let mut pieces = Vec::new();
    for (place, outside) in snippet.split(MARK_START).enumerate() {
        let (hit, rest) = match outside.split_once(MARK_END) {
            Some((hit, rest)) if place > 0 => (hit, rest),
            _ => ("", outside),
        };
        for (text, is_hit) in [(hit, true), (rest, false)] {
            if !text.is_empty() {
                pieces.push((text.to_owned(), is_hit));
            }
        }
    }
    pieces
}
