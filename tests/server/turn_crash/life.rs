//! Servers that live in a runtime of their own, so that dropping it is the death of a process.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::{Client, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;
use throughline::server::Server;
use throughline::server::data::{Data, DataLock};
use throughline::server::journal::SessionJournal;
use throughline::server::store::faults::NoFaults;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

use super::rows::{Rows, dump};
use super::{Files, journals_on};
use crate::crash_storage::{CrashDisk, Fate, Moment, Operation};
use crate::test_app::config;

const PATIENCE: Duration = Duration::from_secs(20);

/// A data directory at rest, with one session, from which every run starts.
pub struct Before {
    folder: TempDir,
    disk: CrashDisk,
    session_id: String,
}

/// What a crash left behind.
pub struct Wreck {
    pub crash: (usize, Moment),
    pub acknowledged: bool,
    pub disk: CrashDisk,
    /// The store's files as they were at the moment of the crash.
    pub store: TempDir,
}

impl Before {
    /// Makes a data directory whose session has had these turns.
    pub fn new(turns: &[(&str, &str)]) -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("notes.txt"), "remember the milk\n").unwrap();
        let disk = CrashDisk::default();
        let process = Process::start(folder.path(), &disk);
        let session_id = process.new_session();
        for (turn_id, prompt) in turns {
            assert!(process.submit(&session_id, turn_id, prompt));
            process.until_completed(&disk, turn_id);
        }
        process.stop();
        Self { folder, disk: disk.reboot(Fate::Kept, Fate::Kept), session_id }
    }

    pub fn store(&self) -> &Path {
        self.folder.path()
    }

    /// Plays a turn that nothing happens to.
    pub fn rehearse(&self, turn_id: &str, prompt: &str) -> (Rows, Vec<Operation>) {
        let (folder, disk) = self.copy();
        let process = Process::start(folder.path(), &disk);
        assert_eq!(disk.take_operations(), [], "a start without need for recovery writes nothing");
        assert!(process.submit(&self.session_id, turn_id, prompt));
        process.until_completed(&disk, turn_id);
        process.stop();
        (runtime().block_on(Rows::read(folder.path())), disk.take_operations())
    }

    /// Plays a turn until the process dies at an operation of its journal.
    pub fn crash(&self, turn_id: &str, prompt: &str, number: usize, moment: Moment) -> Wreck {
        let (folder, disk) = self.copy();
        let (store, death) = keep_at_crash(folder.path(), &disk);
        disk.crash_at(number, moment);
        let process = Process::start(folder.path(), &disk);
        let acknowledged = process.submit(&self.session_id, turn_id, prompt);
        let death = async { tokio::time::timeout(PATIENCE, death).await };
        process.runtime.block_on(death).expect("the crash never came").unwrap();
        process.die();
        Wreck { crash: (number, moment), acknowledged, disk, store }
    }

    fn copy(&self) -> (TempDir, CrashDisk) {
        let folder = TempDir::new().unwrap();
        copy_store(self.folder.path(), folder.path());
        (folder, self.disk.reboot(Fate::Kept, Fate::Kept))
    }
}

fn copy_store(from: &Path, to: &Path) {
    for name in ["throughline.db", "throughline.db-wal"] {
        if from.join(name).exists() {
            fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}

/// Lets the store's files be kept as they are when the disk crashes.
fn keep_at_crash(folder: &Path, disk: &CrashDisk) -> (TempDir, oneshot::Receiver<()>) {
    let store = TempDir::new().unwrap();
    let (at, to) = (folder.to_owned(), store.path().to_owned());
    let (died, death) = oneshot::channel();
    disk.on_crash(move || {
        copy_store(&at, &to);
        let _ = died.send(());
    });
    (store, death)
}

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

async fn open(folder: &Path, disk: &CrashDisk) -> anyhow::Result<Server> {
    let lock = DataLock::take(folder)?;
    let data = Data::open_with(folder, Arc::new(disk.clone()), Arc::new(NoFaults)).await?;
    Server::open_data(config(folder, folder), lock, data).await
}

struct Process {
    runtime: Runtime,
    base: String,
    client: Client,
    stop: oneshot::Sender<()>,
    server: tokio::task::JoinHandle<()>,
}

impl Process {
    fn start(folder: &Path, disk: &CrashDisk) -> Self {
        let runtime = runtime();
        let (stop, stopped) = oneshot::channel();
        let (base, server) = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let base = format!("http://{}", listener.local_addr().unwrap());
            let server = open(folder, disk).await.unwrap();
            let shutdown = async {
                let _ = stopped.await;
            };
            (base, tokio::spawn(async { server.run(listener, shutdown).await.unwrap() }))
        });
        Self { runtime, base, client: Client::new(), stop, server }
    }

    fn new_session(&self) -> String {
        let request = self.client.post(format!("{}/api/sessions/new", self.base)).json(&json!({}));
        let session: Value =
            self.runtime.block_on(async { request.send().await.unwrap().json().await.unwrap() });
        session["session_id"].as_str().unwrap().to_owned()
    }

    /// Sends a turn and tells whether the server said that it has it.
    fn submit(&self, session_id: &str, turn_id: &str, content: &str) -> bool {
        let turn = json!({ "turn_id": turn_id, "session_id": session_id, "content": content });
        let request = self.client.post(format!("{}/api/chat/start", self.base)).json(&turn);
        let response = self.runtime.block_on(request.send()).unwrap();
        response.status() == StatusCode::ACCEPTED
    }

    fn until_completed(&self, disk: &CrashDisk, turn_id: &str) {
        let patience = Instant::now() + PATIENCE;
        let ended = |journal: &SessionJournal| {
            let mut turns = journal.turns.iter();
            turns.any(|turn| turn.turn_id.as_str() == turn_id && turn.state.is_terminal())
        };
        while !journals_on(disk).iter().any(ended) {
            assert!(Instant::now() < patience, "{turn_id} does not end");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn stop(self) {
        drop(self.stop);
        self.runtime.block_on(self.server).unwrap();
    }

    /// Ends without an end: nothing that is under way gets another moment.
    fn die(self) {
        self.runtime.shutdown_background();
    }
}

/// A server that was started on what a crash left, and what it made of it.
pub struct Recovered {
    folder: TempDir,
    disk: CrashDisk,
    pub rows: Rows,
    pub dump: Vec<String>,
    pub files: Files,
    pub journals: Vec<SessionJournal>,
    pub operations: Vec<Operation>,
}

pub fn recover(store: &Path, disk: &CrashDisk) -> Recovered {
    let folder = TempDir::new().unwrap();
    copy_store(store, folder.path());
    start_on(folder, disk.clone())
}

impl Wreck {
    /// Starts a server on what may be left, and lets it die at an operation of its recovery.
    pub fn crash_again(&self, at: &Path, disk: &CrashDisk, number: usize, moment: Moment) -> Self {
        let (folder, disk) = (TempDir::new().unwrap(), disk.reboot(Fate::Kept, Fate::Kept));
        copy_store(at, folder.path());
        let (store, _) = keep_at_crash(folder.path(), &disk);
        disk.crash_at(number, moment);
        let runtime = runtime();
        let opened = runtime.block_on(open(folder.path(), &disk));
        assert!(opened.is_err(), "a server starts without its journal");
        runtime.shutdown_background();
        Wreck { crash: (number, moment), acknowledged: self.acknowledged, disk, store }
    }
}

impl Recovered {
    pub fn recover_again(self) -> Self {
        start_on(self.folder, self.disk)
    }
}

fn start_on(folder: TempDir, disk: CrashDisk) -> Recovered {
    disk.take_operations();
    let runtime = runtime();
    let (rows, dump) = runtime.block_on(async {
        let _server = open(folder.path(), &disk).await.unwrap();
        (Rows::read(folder.path()).await, dump(folder.path()).await)
    });
    runtime.shutdown_background();
    let (files, journals) = (disk.files(), journals_on(&disk));
    let operations = disk.take_operations();
    Recovered { folder, disk, rows, dump, files, journals, operations }
}
