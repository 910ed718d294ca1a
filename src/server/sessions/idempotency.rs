//! Makes commands idempotent: the outcome of each is cached under its id, so that one sent again is
//! not executed again. Prompts are not among them, for their turn id does the same for good.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::OnceCell;

use crate::domain::ids::{CommandId, SessionId};
use crate::server::lock::lock;
use crate::wire::error::Failure;

/// How long a repeated command gets the outcome of the first.
const MAX_AGE: Duration = Duration::from_secs(300);

/// Past either of these the oldest outcomes are evicted early.
const MAX_COMMANDS: usize = 4096;
const MAX_BYTES: usize = 1 << 20;

pub type CommandOutcome = Result<(), Failure>;

type Key = (SessionId, CommandId);

struct CachedCommand {
    since: Instant,
    outcome: Arc<OnceCell<CommandOutcome>>,
    bytes: usize,
}

#[derive(Default)]
struct Cache {
    by_id: HashMap<Key, CachedCommand>,
    oldest_first: VecDeque<Key>,
    bytes: usize,
}

/// Clones share the cache.
#[derive(Clone, Default)]
pub struct CommandCache(Arc<Mutex<Cache>>);

impl CommandCache {
    /// Executes a command, or waits for the outcome of the same command sent before.
    pub async fn once(
        &self,
        session_id: &SessionId,
        command_id: &CommandId,
        execute: impl Future<Output = CommandOutcome>,
    ) -> CommandOutcome {
        let key = (session_id.clone(), command_id.clone());
        let cell = lock(&self.0).get_or_insert(&key, Instant::now());
        let outcome = cell.get_or_init(|| execute).await;
        lock(&self.0).count_bytes(&key, bytes_of(&key, outcome));
        outcome.clone()
    }

    /// Counts the bytes that the cache keeps.
    pub fn bytes(&self) -> usize {
        lock(&self.0).bytes
    }
}

fn bytes_of((session_id, command_id): &Key, outcome: &CommandOutcome) -> usize {
    let message = outcome.as_ref().err().map_or(0, |failure| failure.message.len());
    session_id.as_str().len() + command_id.as_str().len() + message
}

impl Cache {
    fn get_or_insert(&mut self, key: &Key, now: Instant) -> Arc<OnceCell<CommandOutcome>> {
        self.evict(now);
        if let Some(known) = self.by_id.get(key) {
            return Arc::clone(&known.outcome);
        }
        let outcome = Arc::<OnceCell<CommandOutcome>>::default();
        let cached = CachedCommand { since: now, outcome: Arc::clone(&outcome), bytes: 0 };
        self.by_id.insert(key.clone(), cached);
        self.oldest_first.push_back(key.clone());
        outcome
    }

    fn count_bytes(&mut self, key: &Key, bytes: usize) {
        if let Some(cached) = self.by_id.get_mut(key) {
            self.bytes = self.bytes - cached.bytes + bytes;
            cached.bytes = bytes;
        }
        self.evict(Instant::now());
    }

    fn evict(&mut self, now: Instant) {
        while let Some(oldest) = self.oldest_first.front() {
            let expired = self
                .by_id
                .get(oldest)
                .is_none_or(|cached| now.duration_since(cached.since) >= MAX_AGE);
            if !expired && self.by_id.len() <= MAX_COMMANDS && self.bytes <= MAX_BYTES {
                return;
            }
            if let Some(evicted) = self.by_id.remove(oldest) {
                self.bytes -= evicted.bytes;
            }
            self.oldest_first.pop_front();
        }
    }
}
