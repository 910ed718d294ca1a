//! Remembers what commands were answered, so that one sent again is not done again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::value::RawValue;
use tokio::sync::OnceCell;

use crate::domain::ids::{CommandId, SessionId};
use crate::server::lock::lock;
use crate::wire::error::Failure;

/// How long a repeated command gets the answer of the first.
const REMEMBERED: Duration = Duration::from_secs(300);

/// The most answers that are remembered; past it the oldest are forgotten early.
const MOST_REMEMBERED: usize = 4096;

pub type CommandAnswer = Result<Option<Box<RawValue>>, Failure>;

struct Remembered {
    since: Instant,
    answer: Arc<OnceCell<CommandAnswer>>,
}

#[derive(Clone, Default)]
pub struct CommandLog {
    answers: Arc<Mutex<HashMap<(SessionId, CommandId), Remembered>>>,
}

impl CommandLog {
    /// Does a command, or waits for and gives the answer of the same command sent before.
    pub async fn once(
        &self,
        session_id: &SessionId,
        command_id: &CommandId,
        execute: impl Future<Output = CommandAnswer>,
    ) -> CommandAnswer {
        let cell = self.cell(session_id, command_id);
        cell.get_or_init(|| execute).await.clone()
    }

    fn cell(&self, session_id: &SessionId, command_id: &CommandId) -> Arc<OnceCell<CommandAnswer>> {
        let now = Instant::now();
        let mut answers = self.answers();
        if answers.len() >= MOST_REMEMBERED {
            answers.retain(|_, it| now.duration_since(it.since) < REMEMBERED);
        }
        if answers.len() >= MOST_REMEMBERED {
            let mut ages: Vec<_> = answers.values().map(|it| it.since).collect();
            ages.sort_unstable();
            let half = ages.get(ages.len() / 2).copied().unwrap_or(now);
            answers.retain(|_, it| it.since > half);
        }
        let key = (session_id.clone(), command_id.clone());
        let known = answers.get(&key).filter(|it| now.duration_since(it.since) < REMEMBERED);
        if let Some(known) = known {
            return Arc::clone(&known.answer);
        }
        let answer = Arc::<OnceCell<CommandAnswer>>::default();
        answers.insert(key, Remembered { since: now, answer: Arc::clone(&answer) });
        answer
    }

    fn answers(&self) -> MutexGuard<'_, HashMap<(SessionId, CommandId), Remembered>> {
        lock(&self.answers)
    }
}
