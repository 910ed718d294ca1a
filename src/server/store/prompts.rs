//! Prompts are stored by a thread of their own while the journal waits for the disk, and those that
//! come together are written together.

use std::sync::mpsc;
use std::thread;

use rusqlite::{Transaction, params};
use tokio::sync::oneshot;

use super::connections::Connections;
use super::direct::{Direct, transact};
use super::messages::append;
use super::{Store, StoreError};
use crate::domain::ids::SessionId;
use crate::domain::message::Message;

/// A prompt that is to be stored.
#[derive(Debug, Clone)]
pub struct NewPrompt {
    pub session_id: SessionId,
    pub message: Message,
    /// Names the session, if it has no name yet.
    pub title: String,
    /// What the list shows of the session.
    pub preview: String,
}

/// Tells whether the prompt is new, once that is known.
pub type Stored = oneshot::Receiver<Result<bool, StoreError>>;

struct Job {
    prompt: NewPrompt,
    done: oneshot::Sender<Result<bool, StoreError>>,
}

/// The way to the thread that stores prompts; it ends with the last of these.
#[derive(Debug, Clone)]
pub(super) struct Desk(mpsc::Sender<Job>);

impl Desk {
    pub fn open(writer: Connections, direct: Direct) -> Result<Self, StoreError> {
        let (sender, jobs) = mpsc::channel::<Job>();
        let work = move || {
            while let Ok(first) = jobs.recv() {
                let waiting = std::iter::once(first).chain(jobs.try_iter()).collect();
                store_all(&writer, &direct, waiting);
            }
        };
        thread::Builder::new()
            .name("prompts".to_owned())
            .spawn(work)
            .map_err(|error| StoreError::Database(sqlx::Error::Io(error)))?;
        Ok(Self(sender))
    }
}

impl Store {
    /// Begins to store a prompt beside whatever the caller does meanwhile.
    pub fn begin_prompt(&self, prompt: NewPrompt) -> Stored {
        let (done, stored) = oneshot::channel();
        // Without the thread the sender is dropped, which tells the caller.
        let _ = self.prompts.0.send(Job { prompt, done });
        stored
    }

    /// Adds a prompt, names a session that has no name yet and moves it up the list, all or
    /// nothing. Tells whether the prompt is new; a turn that is known already changes nothing.
    pub async fn add_prompt(&self, prompt: &NewPrompt) -> Result<bool, StoreError> {
        self.write(|transaction| add(transaction, prompt)).await
    }
}

fn store_all(writer: &Connections, direct: &Direct, jobs: Vec<Job>) {
    let together = transact(writer, direct, |transaction| {
        jobs.iter().map(|job| add(transaction, &job.prompt)).collect::<Result<Vec<_>, _>>()
    });
    match together {
        Ok(added) => {
            for (job, added) in jobs.into_iter().zip(added) {
                let _ = job.done.send(Ok(added));
            }
        }
        // One that cannot be stored must not take the others with it.
        Err(error) => match <[Job; 1]>::try_from(jobs) {
            Ok([job]) => {
                let _ = job.done.send(Err(error));
            }
            Err(jobs) => jobs.into_iter().for_each(|job| store_all(writer, direct, vec![job])),
        },
    }
}

/// A question that still waited for a person is passed over, or answered by the prompt.
fn add(transaction: &Transaction<'_>, prompt: &NewPrompt) -> Result<bool, StoreError> {
    let NewPrompt { session_id, message, title, preview } = prompt;
    if !append(transaction, session_id, message, true)? {
        return Ok(false);
    }
    transaction
        .prepare_cached(
            "UPDATE sessions SET title = CASE WHEN title = '' THEN ?2 ELSE title END, \
             preview = ?3, last_activity_at = ?4, message_count = message_count + 1 \
             WHERE session_id = ?1",
        )?
        .execute(params![session_id.as_str(), title, preview, message.created_at.millis()])?;
    transaction
        .prepare_cached(
            "UPDATE messages SET state = 'interrupted' \
             WHERE session_id = ?1 AND state = 'waiting'",
        )?
        .execute([session_id.as_str()])?;
    Ok(true)
}
