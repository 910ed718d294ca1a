//! Files: how few operations they need, how many stay open, and who waits for whom.

use std::fs;
use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;
use throughline::server::journal::{
    AppendFile, DirStorage, Journal, Listing, Load, MAX_OPEN_FILES, Storage, file_name, session_of,
};
use throughline::wire::journal::{Record, TurnEvent};

use super::{open, record, session, submitted};
use crate::crash_storage::{CrashDisk, Operation};

fn on_real_disk(data: &TempDir) -> Journal {
    Journal::open(Arc::new(DirStorage::open(data.path()).unwrap())).unwrap()
}

#[test]
fn a_warm_append_is_one_write_and_one_sync() {
    let disk = CrashDisk::default();
    let one = session("one");
    let journal = open(&disk);
    let first = submitted(&one, "t1", 1.0, "first");
    let length = first.to_line().unwrap().len();
    journal.append_synced(&one, &first).unwrap();
    let cold =
        [Operation::Create, Operation::SyncFolder, Operation::Append(length), Operation::Sync];
    assert_eq!(disk.take_operations(), cold);
    journal.append_synced(&one, &first).unwrap();
    assert_eq!(disk.take_operations(), [Operation::Append(length), Operation::Sync]);
    journal.append(&one, &first).unwrap();
    assert_eq!(disk.take_operations(), [Operation::Append(length)]);
}

#[test]
fn a_torn_line_is_ended_before_the_next() {
    let disk = CrashDisk::default();
    let one = session("one");
    disk.plant(&file_name(&one), b"{\"version\":1,\"ev");
    let next = submitted(&one, "t1", 1.0, "next");
    open(&disk).append_synced(&one, &next).unwrap();
    let expected = format!("{{\"version\":1,\"ev\n{}", next.to_line().unwrap());
    assert_eq!(disk.content(&file_name(&one)).unwrap(), expected.as_bytes());
}

#[test]
fn few_files_stay_open_and_reading_closes_none() {
    let disk = CrashDisk::default();
    let journal = open(&disk);
    let name = |number: usize| session(&format!("s{number}"));
    for number in 0..MAX_OPEN_FILES + 50 {
        let session = name(number);
        journal.append_synced(&session, &submitted(&session, "t", 1.0, "hello")).unwrap();
    }
    assert_eq!(disk.open_files(), MAX_OPEN_FILES);
    for number in 0..MAX_OPEN_FILES + 50 {
        assert_eq!(journal.read(&name(number), Load::Everything).unwrap().unwrap().turns.len(), 1);
    }
    assert_eq!(disk.open_files(), MAX_OPEN_FILES - 1);
    let reopened = name(0);
    journal.append(&reopened, &record(&reopened, "t", 2.0, TurnEvent::WorkerStarted)).unwrap();
    let read = journal.read(&reopened, Load::Everything).unwrap().unwrap();
    assert_eq!((read.turns[0].last_at, read.problems.len()), (2.0, 0));
}

#[test]
fn names_and_sessions_belong_together() {
    for id in ["a", "..", ".", "x:y.z-1_2", &"l".repeat(128)] {
        let name = file_name(&session(id));
        assert!(name.ends_with(".jsonl") && !name.contains('/'));
        assert_eq!(session_of(&name), Some(session(id)));
    }
    for stranger in ["a.jsonl.part", ".jsonl", "a.json", "a b.jsonl", "README"] {
        assert_eq!(session_of(stranger), None, "{stranger}");
    }
}

#[test]
fn a_real_folder_lists_what_is_in_it_and_loses_its_drafts() {
    let data = TempDir::new().unwrap();
    let journal = on_real_disk(&data);
    let dots = session("..");
    journal.append_synced(&dots, &submitted(&dots, "t1", 1.0, "hello")).unwrap();
    let folder = data.path().join("_turn_journal");
    fs::write(folder.join("x.jsonl.part"), "half").unwrap();
    fs::write(folder.join("notes.txt"), "mine").unwrap();
    fs::create_dir(folder.join("z.jsonl")).unwrap();

    let journal = on_real_disk(&data);
    let listing = Listing {
        sessions: vec![dots.clone(), session("z")],
        unknown_files: vec!["notes.txt".into()],
    };
    assert_eq!(journal.list().unwrap(), listing);
    assert!(!folder.join("x.jsonl.part").exists());
    assert!(journal.read(&session("z"), Load::Everything).is_err());
    assert!(journal.read(&session("absent"), Load::Everything).unwrap().is_none());
    journal.append_synced(&dots, &submitted(&dots, "t2", 2.0, "again")).unwrap();
    assert_eq!(journal.read(&dots, Load::Everything).unwrap().unwrap().turns.len(), 2);
}

#[test]
fn sessions_side_by_side_keep_their_records_whole_and_in_order() {
    let data = TempDir::new().unwrap();
    let journal = on_real_disk(&data);
    thread::scope(|scope| {
        for thread in 0..16 {
            let journal = journal.clone();
            scope.spawn(move || append_many(&journal, &format!("s{thread}"), "t"));
        }
        for thread in 0..8 {
            let journal = journal.clone();
            scope.spawn(move || append_many(&journal, "shared", &format!("t{thread}")));
        }
    });
    for thread in 0..16 {
        assert_eq!(appended(&journal, &format!("s{thread}")), vec![(0..20).collect::<Vec<_>>()]);
    }
    assert_eq!(appended(&journal, "shared"), vec![(0..20).collect::<Vec<_>>(); 8]);
}

fn append_many(journal: &Journal, name: &str, prefix: &str) {
    let session = session(name);
    for number in 0..20 {
        let turn = format!("{prefix}-{number}");
        let record: Record = submitted(&session, &turn, 1.0, &"héllo ".repeat(number));
        journal.append_synced(&session, &record).unwrap();
    }
}

/// Lists the numbers that each thread appended, in the order of the file.
fn appended(journal: &Journal, name: &str) -> Vec<Vec<usize>> {
    let read = journal.read(&session(name), Load::Everything).unwrap().unwrap();
    assert_eq!(read.problems, []);
    let mut by_thread = std::collections::BTreeMap::<String, Vec<usize>>::new();
    for turn in read.turns {
        let (thread, number) = turn.turn_id.as_str().rsplit_once('-').unwrap();
        let number = number.parse().unwrap();
        assert_eq!(turn.submission.unwrap().content, "héllo ".repeat(number));
        by_thread.entry(thread.to_owned()).or_default().push(number);
    }
    by_thread.into_values().collect()
}

/// A disk whose syncs of one file say that they begin and wait for a word.
struct SlowDisk {
    disk: CrashDisk,
    gate: Arc<Gate>,
}

struct Gate {
    begun: Mutex<Sender<()>>,
    word: Mutex<Receiver<()>>,
}

struct SlowFile {
    file: Box<dyn AppendFile>,
    gate: Arc<Gate>,
}

impl Storage for SlowDisk {
    fn list(&self) -> io::Result<Vec<String>> {
        self.disk.list()
    }
    fn read(&self, name: &str) -> io::Result<Option<Box<dyn Read>>> {
        self.disk.read(name)
    }
    fn open(&self, name: &str) -> io::Result<Box<dyn AppendFile>> {
        let file = self.disk.open(name)?;
        let slow = name == "slow.jsonl";
        Ok(if slow { Box::new(SlowFile { file, gate: self.gate.clone() }) } else { file })
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&self, name: &str) -> io::Result<()> {
        self.disk.remove(name)
    }
    fn sync_folder(&self) -> io::Result<()> {
        self.disk.sync_folder()
    }
}

impl AppendFile for SlowFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }
    fn last_byte(&mut self) -> io::Result<Option<u8>> {
        self.file.last_byte()
    }
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.append(bytes)
    }
    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.file.truncate(len)
    }
    fn sync(&mut self) -> io::Result<()> {
        self.gate.begun.lock().unwrap().send(()).map_err(io::Error::other)?;
        let word = self.gate.word.lock().unwrap().recv_timeout(Duration::from_secs(20));
        word.map_err(io::Error::other)?;
        self.file.sync()
    }
}

#[test]
fn no_session_waits_for_the_sync_of_another() {
    let (begun, has_begun) = channel();
    let (word, heard) = channel();
    let gate = Arc::new(Gate { begun: Mutex::new(begun), word: Mutex::new(heard) });
    let journal = Journal::open(Arc::new(SlowDisk { disk: CrashDisk::default(), gate })).unwrap();
    let (slow, quick) = (session("slow"), session("quick"));
    let record = submitted(&slow, "t1", 1.0, "slow");
    thread::scope(|scope| {
        let waiting = scope.spawn(|| journal.append_synced(&slow, &record));
        has_begun.recv().unwrap();
        journal.append_synced(&quick, &submitted(&quick, "t2", 1.0, "quick")).unwrap();
        assert!(journal.read(&quick, Load::Everything).unwrap().is_some());
        assert!(!waiting.is_finished());
        word.send(()).unwrap();
        waiting.join().unwrap().unwrap();
    });
}
