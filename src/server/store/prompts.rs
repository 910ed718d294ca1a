//! Prompts are stored by a thread of their own while the journal waits for the disk, and those that
//! come together are written together. What nobody waits for is done when the session takes them up.

use std::sync::mpsc;
use std::thread;

use rusqlite::{Connection, Transaction, params, params_from_iter};
use tokio::sync::oneshot;

use super::direct::{Direct, transact_first};
use super::messages::append;
use super::rows::{self, message_columns};
use super::search::index;
use super::writer::{Precedence, Writer};
use super::{Store, StoreError};
use crate::domain::ids::{MessageId, SessionId};
use crate::domain::list::{preview, title_from_prompt};
use crate::domain::message::Message;

/// A prompt that is to be stored.
#[derive(Debug, Clone)]
pub struct NewPrompt {
    pub session_id: SessionId,
    pub message: Message,
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
    pub fn open(writer: Writer, direct: Direct) -> Result<Self, StoreError> {
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
    /// Says that somebody waits until a prompt is stored: other writes let it go first while this
    /// is kept, but not for long.
    pub fn expect_prompt(&self) -> Precedence {
        self.writer.expect_prompt()
    }

    /// Waits while senders wait for their acknowledgements, but not for long.
    pub async fn let_prompts_pass(&self) {
        self.writer.let_prompts_pass().await;
    }

    /// Gives what begins to store a prompt, beside whatever the caller does meanwhile, and what
    /// tells of the end. A prompt that is never begun ends as the store does when it is closed.
    pub fn prepare_prompt(&self, prompt: NewPrompt) -> (impl FnOnce() + Send + 'static, Stored) {
        let (done, stored) = oneshot::channel();
        let desk = self.prompts.clone();
        let begin = move || {
            // Without the thread the sender is dropped, which tells the caller.
            let _ = desk.0.send(Job { prompt, done });
        };
        (begin, stored)
    }

    /// Stores a prompt and takes it up at once. Tells whether it is new; a turn that is known
    /// already changes nothing.
    pub async fn add_prompt(&self, prompt: &NewPrompt) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let new = add(transaction, prompt)?;
            if new {
                take_up(transaction, &prompt.session_id, &prompt.message)?;
            }
            Ok(new)
        })
        .await
    }

    /// Names the session of a stored prompt, if it has no name yet, moves it up the list and makes
    /// the prompt findable, all or nothing. A person does not wait for it, and a start makes up for
    /// what a crash left out.
    pub async fn take_up_prompt(&self, id: &MessageId) -> Result<(), StoreError> {
        self.write(|transaction| {
            let waiting = waiting(transaction, WAITING_ONE, &[id.as_str()])?;
            waiting.iter().try_for_each(|(session, prompt)| take_up(transaction, session, prompt))
        })
        .await
    }

    /// Takes up the prompts that a crash left out.
    pub async fn take_up_waiting(&self) -> Result<(), StoreError> {
        self.write(|transaction| {
            let waiting = waiting(transaction, WAITING, &[])?;
            waiting.iter().try_for_each(|(session, prompt)| take_up(transaction, session, prompt))
        })
        .await
    }

    /// Lists the prompts that were stored and not taken up.
    pub fn waiting_prompts(&self) -> Result<Vec<(SessionId, Message)>, StoreError> {
        self.read(|connection| waiting(connection, WAITING, &[]))
    }
}

/// The prompts that were stored and not taken up.
const WAITING: &str = concat!("SELECT ", message_columns!(), " FROM messages WHERE unindexed = 1");
const WAITING_ONE: &str = concat!(
    "SELECT ",
    message_columns!(),
    " FROM messages WHERE unindexed = 1 AND message_id = ?1"
);

fn waiting(
    connection: &Connection,
    statement: &str,
    ids: &[&str],
) -> Result<Vec<(SessionId, Message)>, StoreError> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut found = statement.query(params_from_iter(ids))?;
    let mut prompts = Vec::new();
    while let Some(row) = found.next()? {
        prompts.push((rows::required(row, "session_id")?, rows::message(row)?));
    }
    Ok(prompts)
}

fn store_all(writer: &Writer, direct: &Direct, jobs: Vec<Job>) {
    let together = transact_first(writer, direct, |transaction| {
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

fn add(transaction: &Transaction<'_>, prompt: &NewPrompt) -> Result<bool, StoreError> {
    append(transaction, &prompt.session_id, &prompt.message, true)
}

/// A question that still waited for a person is passed over, or answered by the prompt.
fn take_up(
    transaction: &Transaction<'_>,
    session_id: &SessionId,
    prompt: &Message,
) -> Result<(), StoreError> {
    let text = prompt.text();
    transaction
        .prepare_cached(
            "UPDATE sessions SET title = CASE WHEN title = '' THEN ?2 ELSE title END, \
             preview = ?3, last_activity_at = ?4, message_count = message_count + 1 \
             WHERE session_id = ?1",
        )?
        .execute(params![
            session_id.as_str(),
            title_from_prompt(&text),
            preview(&text),
            prompt.created_at.millis()
        ])?;
    transaction
        .prepare_cached(
            "UPDATE messages SET state = 'interrupted' \
             WHERE session_id = ?1 AND state = 'waiting'",
        )?
        .execute([session_id.as_str()])?;
    index(transaction, session_id, prompt)?;
    transaction
        .prepare_cached("UPDATE messages SET unindexed = 0 WHERE message_id = ?1")?
        .execute([prompt.message_id.as_str()])?;
    Ok(())
}
