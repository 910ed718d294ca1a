//! The log that version 0.1 shared between sessions is restored once, then it is gone.

use std::fs;
use std::sync::Arc;

use tempfile::TempDir;
use throughline::domain::ids::SessionId;
use throughline::server::journal::{DirStorage, Journal, Load, Problem, file_name};
use throughline::wire::journal::Record;

use super::{interrupted, lines, open, record, records_on, session, submitted};
use crate::crash_storage::{CrashDisk, Fate, Moment, fates};

const SHARED_LOG: &str = "together.lines";

fn hello(session: &SessionId, turn: &str) -> Record {
    submitted(session, turn, 1.0, &format!("Grüße von {turn} 🌍"))
}

/// Leaves a disk as a power loss could: the shared log has every line, the sessions' own files have
/// some of them, one of them torn.
fn left_by_power_loss() -> (CrashDisk, Vec<Record>) {
    let [one, two, three] = ["one", "two", "three"].map(session);
    let acknowledged = vec![
        hello(&one, "t1"),
        hello(&two, "t2"),
        hello(&three, "t3"),
        hello(&one, "t4"),
        hello(&two, "t5"),
    ];
    let disk = CrashDisk::default();
    let mut shared = lines(&acknowledged);
    shared.extend(&lines(&[hello(&three, "t6")])[..30]);
    disk.plant(SHARED_LOG, &shared);
    let stopped = record(&one, "t1", 2.0, interrupted("stopped"));
    disk.plant(&file_name(&one), &lines(&[acknowledged[0].clone(), stopped]));
    disk.plant(&file_name(&two), &lines(&[acknowledged[1].clone()])[..40]);
    (disk, acknowledged)
}

/// Expects every acknowledged line exactly once in its session's file, and no shared log.
fn check(disk: &CrashDisk, acknowledged: &[Record]) {
    let journal = open(disk);
    assert_eq!(disk.content(SHARED_LOG), None, "the shared log is gone");
    for session in journal.list().unwrap().sessions {
        let found = journal.read(&session, Load::Everything).unwrap().unwrap();
        let only_torn = found.problems.iter().all(|it| matches!(it, Problem::Malformed { .. }));
        assert!(only_torn, "{:?}", found.problems);
    }
    for record in acknowledged {
        let found = records_on(disk, record.session_id.as_ref().unwrap());
        assert_eq!(found.iter().filter(|found| *found == record).count(), 1, "{record:?}");
    }
    let files = disk.files();
    drop(open(disk));
    assert_eq!(disk.files(), files, "a second start changes nothing");
}

#[test]
fn lines_of_the_shared_log_are_restored_once_and_the_log_is_removed() {
    let (disk, acknowledged) = left_by_power_loss();
    check(&disk, &acknowledged);
    check(&disk.reboot(Fate::Lost, Fate::Lost), &acknowledged);
}

#[test]
fn restoring_the_shared_log_survives_a_crash_at_every_operation() {
    let (disk, acknowledged) = left_by_power_loss();
    let rehearsal = disk.reboot(Fate::Kept, Fate::Kept);
    drop(open(&rehearsal));
    let operations = rehearsal.take_operations().len();
    let mut cases = 0;
    for number in 0..operations {
        for moment in [Moment::Before, Moment::After, Moment::Torn(20)] {
            let crashed = disk.reboot(Fate::Kept, Fate::Kept);
            crashed.crash_at(number, moment);
            let _ = Journal::open(Arc::new(crashed.clone()));
            for (data, names) in fates() {
                check(&crashed.reboot(data, names), &acknowledged);
                cases += 1;
            }
        }
    }
    println!("{cases} crashes while the shared log was restored, 0 lines lost");
    assert!(cases > 300, "{cases}");
}

#[test]
fn a_file_that_cannot_be_used_keeps_no_other_from_being_restored() {
    let data = TempDir::new().unwrap();
    let folder = data.path().join("_turn_journal");
    let [one, two] = ["one", "two"].map(session);
    fs::create_dir_all(folder.join(file_name(&one))).unwrap();
    fs::write(folder.join(SHARED_LOG), lines(&[hello(&one, "t1"), hello(&two, "t2")])).unwrap();
    let open = || Journal::open(Arc::new(DirStorage::open(data.path()).unwrap())).unwrap();
    let turns = |journal: &Journal, session| {
        journal.read(session, Load::Everything).unwrap().unwrap().turns.len()
    };

    assert_eq!(turns(&open(), &two), 1);
    assert!(folder.join(SHARED_LOG).exists(), "the line that is not restored yet is kept");

    fs::remove_dir(folder.join(file_name(&one))).unwrap();
    let journal = open();
    assert_eq!((turns(&journal, &one), turns(&journal, &two)), (1, 1));
    assert!(!folder.join(SHARED_LOG).exists());
}
