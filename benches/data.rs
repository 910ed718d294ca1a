//! Fills a data directory straight through SQLite: the same rows for the same sizes.
//!
//! Millions of messages take a minute or two, so what was made once is kept beside the build.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, Sqlite, Transaction, query};
use throughline::domain::ids::SessionId;
use throughline::server::store::Store;

/// The most parts of one lineage.
const CHAIN: usize = 12;

/// How many messages the longest conversation has, unless there are none at all.
pub const LONG: usize = 4_000;

/// Another number means that what was kept is made anew; so do other tables.
const GENERATION: u64 = 1;

/// A word that every fourth message holds, and one that three of all hold.
pub const COMMON: &str = "river";
pub const RARE: &str = "ocelot";

/// How many different words the messages are made of.
const VOCABULARY: u64 = 5_000;

const DATABASE: &str = "throughline.db";

/// 2026-01-01 in milliseconds since 1970.
const START: i64 = 1_767_225_600_000;

/// Rows that a benchmark asks for by name.
pub struct Filled {
    /// The first part of a lineage of twelve, and the last.
    pub first: SessionId,
    pub tip: SessionId,
    /// The longest conversation.
    pub long: SessionId,
}

/// Fills a data directory with sessions in lineages of one to twelve parts, some of them branches
/// and some archived, and spreads messages over them.
pub async fn fill(folder: &Path, sessions: usize, messages: usize) -> Result<Filled> {
    let rows = plan(sessions, &mut Random(1));
    let chain =
        rows.iter().find(|row| row.parts == CHAIN).context("no lineage has twelve parts")?;
    let filled = Filled {
        first: session_id(chain.number)?,
        tip: session_id(chain.number + CHAIN - 1)?,
        long: session_id(0)?,
    };
    if messages == 0 {
        write(folder, &rows, messages).await?;
        return Ok(filled);
    }
    let kept = kept(sessions, messages)?;
    if !kept.exists() {
        let unfinished = kept.with_extension("unfinished");
        fs::create_dir_all(&unfinished)?;
        let _ = fs::remove_file(unfinished.join(DATABASE));
        write(&unfinished, &rows, messages).await?;
        fs::rename(unfinished, &kept)?;
    }
    fs::copy(kept.join(DATABASE), folder.join(DATABASE))?;
    Ok(filled)
}

/// Names the place of what is kept, and removes what an older generator made.
fn kept(sessions: usize, messages: usize) -> Result<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-data");
    fs::create_dir_all(&folder)?;
    let ours = format!("{}-", fingerprint());
    for entry in fs::read_dir(&folder)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with(&ours) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(folder.join(format!("{ours}{sessions}-{messages}")))
}

/// Names what the kept data depends on: the generator and the tables it fills.
fn fingerprint() -> String {
    let migrations = sqlx::migrate!("src/server/store/migrations");
    let bytes = migrations.iter().flat_map(|migration| migration.checksum.iter());
    let mixed = bytes.fold(GENERATION, |sum, byte| Random(sum ^ u64::from(*byte)).next());
    format!("{mixed:016x}")
}

async fn write(folder: &Path, rows: &[Row], messages: usize) -> Result<()> {
    Store::open(folder).await?.close().await;
    let mut connection = SqliteConnectOptions::new()
        .filename(folder.join(DATABASE))
        .journal_mode(SqliteJournalMode::Off)
        .synchronous(SqliteSynchronous::Off)
        .foreign_keys(false)
        .pragma("cache_size", "-262144")
        .connect()
        .await?;
    let mut transaction = connection.begin().await?;
    // Words are gathered in memory until there are many, as no server could.
    query("INSERT INTO search (search, rank) VALUES ('hashsize', 134217728)")
        .execute(&mut *transaction)
        .await?;
    let mut random = Random(2);
    let sessions = rows.len();
    let each = messages.saturating_sub(LONG) / sessions.max(1);
    for row in rows {
        let count = match row.number {
            0 if messages > 0 => LONG,
            _ if each == 0 => 0,
            _ => random.below(2 * each + 1),
        };
        row.insert(&mut transaction, count).await?;
        if count > 0 {
            let rare = row.number > 0 && row.number.is_multiple_of(sessions / 4);
            insert_messages(&mut transaction, row, words(count, rare, &mut random)).await?;
        }
    }
    query("INSERT INTO search (search, rank) VALUES ('hashsize', 1048576)")
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(connection.close().await?)
}

/// Names the session with a number; names sort as their numbers do.
pub fn session_id(number: usize) -> Result<SessionId> {
    Ok(SessionId::parse(&name(number))?)
}

fn name(number: usize) -> String {
    format!("{number:012x}{:020x}", Random(number as u64 + 1).next())
}

/// One session row to be.
struct Row {
    number: usize,
    /// Which part of its lineage it is, counted from one, and how many there are.
    part: usize,
    parts: usize,
    fork_of: Option<usize>,
    archived: bool,
    at: i64,
}

fn plan(sessions: usize, random: &mut Random) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::with_capacity(sessions);
    while rows.len() < sessions {
        let first = rows.len();
        // The chain of twelve that is asked for stands in the middle of all rows.
        let wanted = match first * 2 / sessions {
            1 if !rows.iter().any(|row| row.parts == CHAIN) => CHAIN,
            _ if random.below(3) > 0 => 1,
            _ => 1 + random.below(CHAIN - 1),
        };
        let parts = wanted.min(sessions - first);
        let fork_of = (first > 0 && random.below(10) == 0).then(|| random.below(first));
        let archived = random.below(10) == 0;
        rows.extend((0..parts).map(|part| Row {
            number: first + part,
            part: part + 1,
            parts,
            fork_of: fork_of.filter(|_| part == 0),
            archived,
            at: START + random.below(sessions) as i64 * 1000,
        }));
    }
    rows
}

impl Row {
    async fn insert(
        &self,
        transaction: &mut Transaction<'_, Sqlite>,
        messages: usize,
    ) -> Result<()> {
        let (parent, relation) = match self.fork_of {
            _ if self.part > 1 => (Some(name(self.number - 1)), Some("continuation")),
            Some(parent) => (Some(name(parent)), Some("fork")),
            None => (None, None),
        };
        let last = self.part == self.parts;
        query(
            "INSERT INTO sessions (session_id, title, agent, workspace, parent_session_id, \
             relation, snapshot, continuation_session_id, lineage_root_id, segment, preview, \
             message_count, archived, created_at, last_activity_at) \
             VALUES ($1, $2, 'demo', '/home/someone/work', $3, $4, $5, $6, $7, $8, $9, $10, $11, \
             $12, $12)",
        )
        .bind(name(self.number))
        .bind(format!("Conversation number {}", self.number))
        .bind(parent)
        .bind(relation)
        .bind(!last)
        .bind((!last).then(|| name(self.number + 1)))
        .bind(name(self.number + 1 - self.part))
        .bind(self.part as i64)
        .bind("The last line of what the agent said in this conversation.")
        .bind(messages as i64)
        .bind(self.archived)
        .bind(self.at)
        .execute(&mut **transaction)
        .await?;
        Ok(())
    }
}

/// Writes the messages of one session and makes them findable, in the tables that the store uses.
async fn insert_messages(
    transaction: &mut Transaction<'_, Sqlite>,
    row: &Row,
    texts: Vec<String>,
) -> Result<()> {
    let session = name(row.number);
    query(
        "INSERT INTO messages (message_id, session_id, position, turn_id, role, state, parts, \
         created_at, ended_at) SELECT $1 || printf('m%05d', key), $1, key + 1, \
         $1 || printf('t%05d', key / 2), CASE key % 2 WHEN 0 THEN 'user' ELSE 'assistant' END, \
         'complete', json_array(json_object('type', 'text', 'text', value)), $3 + key, $3 + key \
         FROM json_each($2)",
    )
    .bind(&session)
    .bind(serde_json::to_string(&texts)?)
    .bind(row.at)
    .execute(&mut **transaction)
    .await?;
    query(
        "INSERT INTO search_entries (session_id, message_id) SELECT session_id, message_id \
         FROM messages WHERE session_id = $1 ORDER BY position",
    )
    .bind(&session)
    .execute(&mut **transaction)
    .await?;
    query(
        "INSERT INTO search (rowid, words) SELECT entry.entry_id, \
         json_extract(message.parts, '$[0].text') FROM search_entries AS entry \
         JOIN messages AS message ON message.message_id = entry.message_id \
         WHERE entry.session_id = $1 ORDER BY entry.message_id",
    )
    .bind(&session)
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

fn words(count: usize, rare: bool, random: &mut Random) -> Vec<String> {
    let text = |place: usize| {
        let mut words: Vec<_> = (0..6)
            // Squared, so that some words are said far more often than others.
            .map(|_| random.below(VOCABULARY as usize) * random.below(VOCABULARY as usize))
            .map(|product| made_up(product as u64 / VOCABULARY))
            .collect();
        if place.is_multiple_of(4) {
            words.push(COMMON.to_owned());
        }
        if rare && place == 0 {
            words.push(RARE.to_owned());
        }
        words.join(" ")
    };
    (0..count).map(text).collect()
}

/// Makes a word that can be said of a number.
fn made_up(number: u64) -> String {
    const SYLLABLES: [&str; 16] = [
        "ba", "do", "fi", "gu", "ha", "jo", "ki", "lu", "ma", "no", "pi", "ru", "sa", "to", "vi",
        "wu",
    ];
    (0..4).map(|place| SYLLABLES[(number >> (4 * place)) as usize % SYLLABLES.len()]).collect()
}

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}
