//! A line that is on the disk while the database decides whether it stays.

use std::io::ErrorKind;

use throughline::server::journal::{JournalError, Load, file_name};
use throughline::wire::journal::TurnEvent;

use super::{lines, open, record, session, submitted};
use crate::crash_storage::{CrashDisk, Fate, Operation, fates};

#[test]
fn an_accepted_line_is_on_the_disk() {
    let disk = CrashDisk::default();
    let one = session("one");
    let journal = open(&disk);
    let first = submitted(&one, "t1", 1.0, "first");
    journal.append_pending(&one, &first).unwrap().accept();
    assert_eq!(
        disk.reboot(Fate::Lost, Fate::Lost).content(&file_name(&one)),
        Some(lines(&[first]))
    );
}

#[test]
fn a_line_that_is_cut_off_is_gone_also_after_a_power_loss() {
    let disk = CrashDisk::default();
    let one = session("one");
    let journal = open(&disk);
    let first = submitted(&one, "t1", 1.0, "first");
    let started = record(&one, "t1", 2.0, TurnEvent::WorkerStarted);
    let refused = submitted(&one, "t2", 3.0, "refused");
    let last = submitted(&one, "t3", 4.0, "last");
    journal.append_synced(&one, &first).unwrap();
    journal.append(&one, &started).unwrap();
    journal.append_pending(&one, &refused).unwrap().cut_off();
    for (data, names) in fates() {
        let restarted = disk.reboot(data, names);
        let turns = open(&restarted).read(&one, Load::Everything).unwrap().unwrap().turns;
        assert_eq!(turns.len(), 1, "{data:?} {names:?}");
    }
    journal.append_synced(&one, &last).unwrap();
    let restarted = disk.reboot(Fate::Lost, Fate::Lost);
    assert_eq!(restarted.content(&file_name(&one)).unwrap(), lines(&[first, started, last]));
}

#[test]
fn a_line_that_cannot_be_cut_off_is_not_read_and_goes_once_the_disk_lets_it() {
    let disk = CrashDisk::default();
    let one = session("one");
    let journal = open(&disk);
    let first = submitted(&one, "t1", 1.0, "first");
    let refused = submitted(&one, "t2", 2.0, "refused");
    journal.append_synced(&one, &first).unwrap();
    let line = journal.append_pending(&one, &refused).unwrap();
    disk.fail(ErrorKind::Other, 0, |operation| operation == Operation::Truncate);
    line.cut_off();
    assert_eq!(journal.read(&one, Load::Everything).unwrap().unwrap().turns.len(), 1);
    let error = journal.append_synced(&one, &refused).unwrap_err();
    assert!(matches!(error, JournalError::NeedsRepair(_)), "{error:?}");
    disk.heal();
    let last = submitted(&one, "t3", 3.0, "last");
    journal.append_synced(&one, &last).unwrap();
    assert_eq!(disk.content(&file_name(&one)).unwrap(), lines(&[first, last]));
}
