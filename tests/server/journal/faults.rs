//! A disk that refuses work for a while.

use std::io::ErrorKind;

use throughline::server::journal::{JournalError, Load, file_name};
use throughline::wire::journal::TurnEvent;

use super::{lines, open, record, session, submitted};
use crate::crash_storage::{CrashDisk, Fate, Operation};

fn is_append(operation: Operation) -> bool {
    matches!(operation, Operation::Append(_))
}

fn is_sync(operation: Operation) -> bool {
    operation == Operation::Sync
}

fn is_truncate(operation: Operation) -> bool {
    operation == Operation::Truncate
}

fn is_write(operation: Operation) -> bool {
    operation != Operation::Sync
}

#[test]
fn a_full_disk_refuses_and_leaves_nothing_behind() {
    let one = session("one");
    let written = [1, 2, 3, 4].map(|turn| submitted(&one, &format!("t{turn}"), 1.0, "hello"));
    for kept in [0, 1, 50] {
        let disk = CrashDisk::default();
        let journal = open(&disk);
        journal.append_synced(&one, &written[0]).unwrap();
        disk.fail(ErrorKind::StorageFull, kept, is_append);
        for refused in [&written[1], &written[2], &written[1]] {
            let error = journal.append_synced(&one, refused).unwrap_err();
            assert!(matches!(error, JournalError::Full(_)), "{error:?}");
            assert_eq!(error.to_string(), "The disk is full.");
            assert_eq!(disk.content(&file_name(&one)).unwrap(), lines(&written[..1]));
        }
        disk.heal();
        for record in &written[1..] {
            journal.append_synced(&one, record).unwrap();
        }
        assert_eq!(disk.content(&file_name(&one)).unwrap(), lines(&written));
        let restarted = disk.reboot(Fate::Lost, Fate::Lost);
        assert_eq!(restarted.content(&file_name(&one)).unwrap(), lines(&written));
    }
}

#[test]
fn a_disk_that_is_read_only_says_so() {
    for kind in [ErrorKind::ReadOnlyFilesystem, ErrorKind::PermissionDenied] {
        let disk = CrashDisk::default();
        let one = session("one");
        let journal = open(&disk);
        disk.fail(kind, 0, is_write);
        let hello = submitted(&one, "t1", 1.0, "hello");
        let error = journal.append_synced(&one, &hello).unwrap_err();
        assert!(matches!(error, JournalError::ReadOnly(_)), "{error:?}");
        disk.heal();
        journal.append_synced(&one, &hello).unwrap();
        assert_eq!(disk.content(&file_name(&one)).unwrap(), lines(&[hello]));
    }
}

#[test]
fn a_failed_sync_closes_the_journal_until_it_is_mended() {
    let disk = CrashDisk::default();
    let (one, two) = (session("one"), session("two"));
    let journal = open(&disk);
    let first = submitted(&one, "t1", 1.0, "first");
    let started = record(&one, "t1", 2.0, TurnEvent::WorkerStarted);
    let second = submitted(&one, "t2", 3.0, "second");
    let elsewhere = submitted(&two, "t3", 4.0, "elsewhere");
    journal.append_synced(&one, &first).unwrap();
    journal.append(&one, &started).unwrap();
    let accepted = [first, started];

    disk.fail(ErrorKind::Other, 0, is_sync);
    let error = journal.append_synced(&one, &second).unwrap_err();
    assert!(matches!(error, JournalError::Io(_)), "{error:?}");
    assert_eq!(disk.content(&file_name(&one)).unwrap(), lines(&accepted));
    for _ in 0..2 {
        let error = journal.append(&one, &second).unwrap_err();
        assert!(matches!(error, JournalError::NeedsRepair(_)), "{error:?}");
        assert!(error.to_string().ends_with("The disk reported an error."), "{error}");
    }
    disk.heal();
    journal.append_synced(&two, &elsewhere).unwrap();
    journal.append_synced(&one, &second).unwrap();

    // The failed sync dropped `started` from the cache; it must be on the disk all the same.
    let restarted = disk.reboot(Fate::Lost, Fate::Lost);
    let expected = lines(&[accepted.as_slice(), &[second]].concat());
    assert_eq!(restarted.content(&file_name(&one)).unwrap(), expected);
}

#[test]
fn what_was_refused_is_not_read_even_if_it_cannot_be_cut_off() {
    let disk = CrashDisk::default();
    let one = session("one");
    let journal = open(&disk);
    let first = submitted(&one, "t1", 1.0, "first");
    let started = record(&one, "t1", 2.0, TurnEvent::WorkerStarted);
    let refused = submitted(&one, "t2", 3.0, "second");
    journal.append_synced(&one, &first).unwrap();
    journal.append(&one, &started).unwrap();
    disk.fail(ErrorKind::Other, 0, is_sync);
    disk.fail(ErrorKind::Other, 0, is_truncate);
    journal.append_synced(&one, &refused).unwrap_err();

    let everything = lines(&[first.clone(), started.clone(), refused.clone()]);
    assert_eq!(disk.content(&file_name(&one)).unwrap(), everything);
    let read = journal.read(&one, Load::Everything).unwrap().unwrap();
    assert_eq!(read.turns.len(), 1);
    assert_eq!(read.turns[0].state, started.event.step());
    assert_eq!(read.problems, []);

    disk.heal();
    journal.append_synced(&one, &refused).unwrap();
    assert_eq!(disk.content(&file_name(&one)).unwrap(), everything);
}

#[test]
fn what_could_not_be_read_back_is_refused_untouched() {
    let disk = CrashDisk::default();
    let (one, two) = (session("one"), session("two"));
    let journal = open(&disk);
    let endless = submitted(&one, "t1", 1.0, &"x".repeat(3 << 20));
    for record in
        [endless, submitted(&two, "t2", 1.0, "not here"), submitted(&one, "t", f64::NAN, "")]
    {
        let error = journal.append_synced(&one, &record).unwrap_err();
        assert!(matches!(error, JournalError::Unwritable(_)), "{error:?}");
    }
    assert_eq!(disk.take_operations(), []);
}
