//! Those who wait for the disk at the same moment: one sync for all, and the same promise to each.

use std::fs;
use std::io::ErrorKind;
use std::sync::Arc;

use tempfile::TempDir;
use throughline::domain::ids::SessionId;
use throughline::server::journal::{
    Folder, Journal, JournalError, Keep, NewLine, Problem, file_name,
};
use throughline::wire::journal::{Record, TurnEvent};

use super::{completed, crashes, interrupted, lines, open, record, records_on, session, submitted};
use crate::crash_storage::{CrashDisk, Fate, Moment, Operation, fates};

const SHARED: &str = "together.lines";

/// What is asked of the journal.
enum Act {
    Together(Vec<Record>),
    Alone(Record),
    Step(Record),
}

fn hello(session: &SessionId, turn: &str) -> Record {
    submitted(session, turn, 1.0, &format!("Grüße von {turn} 🌍"))
}

/// Sends records at the same moment and tells which were promised.
fn append_together(journal: &Journal, records: &[Record]) -> Vec<Result<(), JournalError>> {
    let new_line =
        |record: &Record| NewLine::new(record.session_id.as_ref().unwrap(), record, || ()).unwrap();
    let (lines, answers): (Vec<_>, Vec<_>) = records.iter().map(new_line).unzip();
    journal.append_together(lines);
    answers.into_iter().map(|mut answer| answer.try_recv().unwrap()).collect()
}

fn script() -> Vec<Act> {
    let [one, two, three] = ["one", "two", "three"].map(session);
    let step =
        |session: &SessionId, turn: &str, event| Act::Step(record(session, turn, 2.0, event));
    vec![
        Act::Together(vec![hello(&one, "t1"), hello(&two, "t2"), hello(&three, "t3")]),
        step(&one, "t1", TurnEvent::WorkerStarted),
        step(&two, "t2", interrupted("stopped")),
        Act::Together(vec![hello(&one, "t4"), hello(&two, "t5"), hello(&one, "t6")]),
        Act::Alone(hello(&two, "t7")),
        step(&one, "t1", TurnEvent::AssistantStarted),
        step(&one, "t1", completed()),
        Act::Together(vec![hello(&three, "t8"), hello(&two, "t9")]),
    ]
}

/// Plays until the power goes, and gives back what was promised.
fn play(disk: &CrashDisk, script: &[Act]) -> Vec<Record> {
    let Ok(journal) = Journal::open(Arc::new(disk.clone())) else {
        return Vec::new();
    };
    let mut promised = Vec::new();
    for act in script {
        match act {
            Act::Together(records) => {
                let answers = append_together(&journal, records);
                let kept = records.iter().zip(answers).filter(|(_, answer)| answer.is_ok());
                promised.extend(kept.map(|(record, _)| record.clone()));
            }
            Act::Alone(record) => {
                let session = record.session_id.as_ref().unwrap();
                promised
                    .extend(journal.append_synced(session, record).ok().map(|()| record.clone()));
            }
            Act::Step(record) => {
                let _ = journal.append(record.session_id.as_ref().unwrap(), record);
            }
        }
    }
    promised
}

/// Expects what was promised exactly once, at home, and nothing that was never sent.
fn check(disk: &CrashDisk, promised: &[Record]) {
    let journal = open(disk);
    assert_eq!(disk.content(SHARED), None, "all lines are at home");
    for session in journal.list().unwrap().sessions {
        let found = journal.read(&session, Keep::Everything).unwrap().unwrap();
        let only_torn = found.problems.iter().all(|it| matches!(it, Problem::Malformed { .. }));
        assert!(only_torn, "{:?}", found.problems);
        for turn in found.turns {
            assert!(turn.submission.unwrap().content.ends_with(&format!("{} 🌍", turn.turn_id)));
        }
    }
    for record in promised {
        let found = records_on(disk, record.session_id.as_ref().unwrap());
        assert_eq!(found.iter().filter(|found| *found == record).count(), 1, "{record:?}");
    }
    let files = disk.files();
    drop(open(disk));
    assert_eq!(disk.files(), files, "a second start changes nothing");
}

#[test]
fn every_promise_to_many_outlives_a_crash_at_every_operation() {
    let script = script();
    let rehearsal = CrashDisk::default();
    assert_eq!(play(&rehearsal, &script).len(), 9);
    let (mut cases, mut double) = (0, 0);
    for disk in crashes(&rehearsal, 37) {
        let promised = play(&disk, &script);
        for (data, names) in fates() {
            double += crash_while_coming_home(&disk.reboot(data, names), &promised);
            check(&disk.reboot(data, names), &promised);
            cases += 1;
        }
    }
    println!("{cases} crashes survived, and {double} while lines came home");
    assert!(cases > 1500 && double > 10_000, "{cases} {double}");
}

/// Lets the power go a second time, at each operation of the start after the first.
fn crash_while_coming_home(disk: &CrashDisk, promised: &[Record]) -> usize {
    let rehearsal = disk.reboot(Fate::Kept, Fate::Kept);
    drop(open(&rehearsal));
    let operations = rehearsal.take_operations().len();
    for number in 0..operations {
        let again = disk.reboot(Fate::Kept, Fate::Kept);
        again.crash_at(number, Moment::After);
        assert!(Journal::open(Arc::new(again.clone())).is_ok() || again.open_files() == 0);
        check(&again.reboot(Fate::Lost, Fate::Lost), promised);
    }
    operations
}

#[test]
fn many_wait_for_one_sync() {
    let disk = CrashDisk::default();
    let journal = open(&disk);
    let sessions: Vec<_> = (0..16).map(|number| session(&format!("s{number}"))).collect();
    let round = |turn: &str| sessions.iter().map(|it| hello(it, turn)).collect::<Vec<_>>();
    assert!(append_together(&journal, &round("t1")).iter().all(Result::is_ok));
    disk.take_operations();
    assert!(append_together(&journal, &round("t2")).iter().all(Result::is_ok));
    let operations = disk.take_operations();
    let syncs = operations.iter().filter(|operation| **operation == Operation::Sync).count();
    assert_eq!((syncs, operations.len()), (1, 18), "sixteen lines at home, one block, one sync");
    for session in &sessions {
        assert_eq!(records_on(&disk, session), [hello(session, "t1"), hello(session, "t2")]);
    }
    journal.settle().unwrap();
    assert_eq!(disk.content(SHARED), None);
    check(&disk.reboot(Fate::Lost, Fate::Lost), &[round("t1"), round("t2")].concat());
}

#[test]
fn without_the_file_for_many_each_is_synced_at_home() {
    let disk = CrashDisk::default();
    let journal = open(&disk);
    let [one, two] = ["one", "two"].map(session);
    journal.append_synced(&one, &hello(&one, "t1")).unwrap();
    journal.append_synced(&two, &hello(&two, "t2")).unwrap();
    disk.fail(ErrorKind::Other, 0, |operation| operation == Operation::Create);
    let more = [hello(&one, "t3"), hello(&two, "t4")];
    assert!(append_together(&journal, &more).iter().all(Result::is_ok));
    check(&disk.reboot(Fate::Lost, Fate::Lost), &more);

    disk.heal();
    let last = [hello(&one, "t5"), hello(&two, "t6")];
    assert!(append_together(&journal, &last).iter().all(Result::is_ok));
    assert_eq!(disk.content(SHARED).unwrap(), lines(&last), "it is used again");
    check(&disk.reboot(Fate::Lost, Fate::Lost), &[more, last].concat());
}

#[test]
fn what_was_refused_does_not_come_home() {
    for kept in [0, 30, 10_000] {
        let disk = CrashDisk::default();
        let journal = open(&disk);
        let [one, two] = ["one", "two"].map(session);
        let first = [hello(&one, "t1"), hello(&two, "t2")];
        assert!(append_together(&journal, &first).iter().all(Result::is_ok));
        disk.fail(ErrorKind::StorageFull, kept, |operation| operation == Operation::Sync);
        let refused = [hello(&one, "t3"), hello(&two, "t4")];
        let answers = append_together(&journal, &refused);
        assert!(answers.iter().all(|answer| matches!(answer, Err(JournalError::Full(_)))));
        disk.heal();
        assert_eq!(disk.content(SHARED).unwrap(), lines(&first));
        let last = [hello(&one, "t5"), hello(&two, "t6")];
        assert!(append_together(&journal, &last).iter().all(Result::is_ok));
        let restarted = disk.reboot(Fate::Kept, Fate::Kept);
        check(&restarted, &[first.as_slice(), last.as_slice()].concat());
        assert_eq!(records_on(&restarted, &one), [first[0].clone(), last[0].clone()]);
    }
}

#[test]
fn a_journal_that_is_dropped_stays_dropped() {
    let disk = CrashDisk::default();
    let journal = open(&disk);
    let [one, two] = ["one", "two"].map(session);
    let both = [hello(&one, "t1"), hello(&two, "t2")];
    assert!(append_together(&journal, &both).iter().all(Result::is_ok));
    journal.append(&one, &record(&one, "t1", 2.0, interrupted("stopped"))).unwrap();
    journal.prune(&one, 10.0).unwrap();
    journal.remove(&two).unwrap();
    for (data, names) in fates() {
        let restarted = disk.reboot(data, names);
        assert_eq!(open(&restarted).list().unwrap().sessions, []);
    }
}

#[test]
fn the_file_for_many_does_not_grow_for_ever() {
    let disk = CrashDisk::default();
    let journal = open(&disk);
    let [one, two] = ["one", "two"].map(session);
    let mut all = Vec::new();
    for round in 0..50 {
        let long = |session, half| {
            let turn = format!("t{round}-{half}");
            submitted(session, &turn, 1.0, &format!("{}{turn} 🌍", "x".repeat(100_000)))
        };
        let both = [long(&one, 1), long(&two, 2)];
        assert!(append_together(&journal, &both).iter().all(Result::is_ok));
        assert!(disk.content(SHARED).unwrap().len() < (8 << 20) + 250_000);
        all.extend(both);
    }
    check(&disk.reboot(Fate::Lost, Fate::Lost), &all);
}

#[test]
fn a_home_that_cannot_be_used_keeps_nobody_from_theirs() {
    let data = TempDir::new().unwrap();
    let folder = data.path().join("_turn_journal");
    let [one, two] = ["one", "two"].map(session);
    let (left, other) = (hello(&one, "t1"), hello(&two, "t2"));
    fs::create_dir_all(folder.join(file_name(&one))).unwrap();
    fs::write(folder.join(SHARED), lines(&[left.clone(), other])).unwrap();
    let open = || Journal::open(Arc::new(Folder::open(data.path()).unwrap())).unwrap();
    let turns = |journal: &Journal, session| {
        journal.read(session, Keep::Everything).unwrap().unwrap().turns.len()
    };

    let journal = open();
    assert_eq!(turns(&journal, &two), 1);
    let three = session("three");
    let more = [hello(&two, "t3"), hello(&three, "t4")];
    assert!(append_together(&journal, &more).iter().all(Result::is_ok));
    assert!(folder.join(SHARED).exists(), "the line that has no home yet is kept");

    fs::remove_dir(folder.join(file_name(&one))).unwrap();
    let journal = open();
    assert_eq!((turns(&journal, &one), turns(&journal, &two), turns(&journal, &three)), (1, 2, 1));
    assert!(!folder.join(SHARED).exists());
}
