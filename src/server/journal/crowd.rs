//! Those who submit while somebody else waits for the disk wait for it together.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use tokio::sync::oneshot;

use super::error::JournalError;
use super::files::Files;
use super::together::{LARGE, LARGEST, Together};
use super::writer::line_for;
use crate::domain::ids::SessionId;
use crate::server::lock::lock;
use crate::wire::journal::Record;

/// Tells whether a line is on the disk, once that is known.
pub type Synced = oneshot::Receiver<Result<(), JournalError>>;

/// A line that is to be appended to a session's file.
pub struct NewLine {
    pub(super) session: SessionId,
    pub(super) bytes: Vec<u8>,
    meanwhile: Box<dyn FnOnce() + Send>,
    done: oneshot::Sender<Result<(), JournalError>>,
}

impl NewLine {
    /// Takes what is to be done once the line is written, while the disk is waited for.
    pub fn new(
        session: &SessionId,
        record: &Record,
        meanwhile: impl FnOnce() + Send + 'static,
    ) -> Result<(Self, Synced), JournalError> {
        let bytes = line_for(session, record)?.into_bytes();
        let (done, synced) = oneshot::channel();
        let meanwhile = Box::new(meanwhile);
        Ok((Self { session: session.clone(), bytes, meanwhile, done }, synced))
    }
}

/// The way to the thread that appends for many; it ends with the last of these.
#[derive(Clone)]
pub(super) struct Crowd(mpsc::Sender<NewLine>);

impl Crowd {
    pub fn open(files: Files, together: Arc<Mutex<Together>>) -> Result<Self, JournalError> {
        let (sender, lines) = mpsc::channel::<NewLine>();
        let work = move || {
            let mut next = lines.recv().ok();
            while let Some(first) = next {
                let waiting = std::iter::once(first).chain(lines.try_iter()).collect();
                append(&files, &together, waiting);
                next = lines.try_recv().ok().or_else(|| {
                    // Nobody waits now.
                    lock(&together).make_room(&files, LARGE);
                    lines.recv().ok()
                });
            }
        };
        thread::Builder::new().name("journal".to_owned()).spawn(work)?;
        Ok(Self(sender))
    }

    pub fn join(&self, line: NewLine) {
        // Without the thread the line is dropped, which tells its sender.
        let _ = self.0.send(line);
    }
}

/// Appends lines and tells their senders when they are on the disk.
pub(super) fn append(files: &Files, together: &Mutex<Together>, mut lines: Vec<NewLine>) {
    let mut together = lock(together);
    while !lines.is_empty() {
        let mut sessions = HashSet::new();
        // A file is locked once, so a session's second line waits for the next time.
        let (first, later) =
            lines.into_iter().partition(|line| sessions.insert(line.session.clone()));
        append_one_each(files, &mut together, first);
        lines = later;
    }
}

fn append_one_each(files: &Files, together: &mut Together, lines: Vec<NewLine>) {
    together.make_room(files, LARGEST);
    let slots: Vec<_> = lines.iter().map(|line| files.for_writing(&line.session)).collect();
    let (mut written, mut begin) = (Vec::new(), Vec::new());
    for (NewLine { session, bytes, meanwhile, done }, slot) in lines.into_iter().zip(&slots) {
        let mut slot = lock(slot);
        match slot.write(files.storage(), &session, &bytes) {
            Ok(()) => {
                begin.push(meanwhile);
                written.push((slot, session, bytes, done));
            }
            Err(error) => drop(done.send(Err(error))),
        }
    }
    begin.into_iter().for_each(|meanwhile| meanwhile());
    let kept = written.iter().map(|(_, session, bytes, _)| (session, bytes.as_slice()));
    // One alone is synced at home for the same price.
    let safe = written.len() > 1 && together.append(files.storage(), kept);
    for (mut slot, _, _, done) in written {
        let synced = if safe {
            slot.accept();
            Ok(())
        } else {
            slot.sync()
        };
        let _ = done.send(synced);
    }
}
