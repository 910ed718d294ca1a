//! Pruning: ended turns go, everything else stays as it was, whatever happens meanwhile.

use std::io::ErrorKind;
use std::thread;

use throughline::domain::ids::SessionId;
use throughline::server::journal::{JournalError, Load, Pruned, file_name};
use throughline::wire::journal::{Record, TurnEvent};

use super::{completed, interrupted, lines, open, record, records_on, session, submitted};
use crate::crash_storage::{CrashDisk, Moment, Operation, fates};

/// An old finished turn, one still pending, an old interrupted one and a young finished one.
fn mixed(session: &SessionId) -> Vec<Record> {
    vec![
        submitted(session, "old", 1.0, "old"),
        record(session, "old", 2.0, TurnEvent::WorkerStarted),
        submitted(session, "pending", 3.0, "pending"),
        record(session, "old", 4.0, TurnEvent::AssistantStarted),
        submitted(session, "stopped", 5.0, "stopped"),
        record(session, "old", 6.0, completed()),
        record(session, "stopped", 7.0, interrupted("stopped")),
        submitted(session, "young", 8.0, "young"),
        record(session, "young", 50.0, interrupted("stopped")),
    ]
}

fn without_the_old(records: &[Record]) -> Vec<Record> {
    let stays = |record: &&Record| ["pending", "young"].contains(&record.turn_id.as_str());
    records.iter().filter(stays).cloned().collect()
}

fn disk_with(session: &SessionId, bytes: &[u8]) -> CrashDisk {
    let disk = CrashDisk::default();
    disk.plant(&file_name(session), bytes);
    disk
}

#[test]
fn only_turns_that_ended_long_ago_are_dropped() {
    let one = session("one");
    // Another program's spacing and fields stay as they are.
    let foreign = "{ \"event\": \"submitted\",  \"turn_id\":\"f\",\"created_at\":1.50,\"content\":\"\", \"x\":[1] }\n\n";
    let bytes = [foreign.as_bytes(), &lines(&mixed(&one))].concat();
    let disk = disk_with(&one, &bytes);
    let journal = open(&disk);
    assert_eq!(journal.prune(&one, 1.0).unwrap(), Pruned { turns: 0, kept: 5 });
    assert_eq!(disk.take_operations(), []);
    assert_eq!(journal.prune(&one, 10.0).unwrap(), Pruned { turns: 2, kept: 3 });
    let expected = [foreign.as_bytes(), &lines(&without_the_old(&mixed(&one)))].concat();
    assert_eq!(disk.content(&file_name(&one)).unwrap(), expected);
    assert_eq!(journal.prune(&one, 10.0).unwrap(), Pruned { turns: 0, kept: 3 });
}

#[test]
fn a_file_left_empty_is_removed() {
    let one = session("one");
    let ended = [submitted(&one, "t", 1.0, ""), record(&one, "t", 2.0, interrupted("stopped"))];
    let disk = disk_with(&one, &lines(&ended));
    let journal = open(&disk);
    assert_eq!(journal.prune(&one, 10.0).unwrap(), Pruned { turns: 1, kept: 0 });
    assert_eq!(disk.content(&file_name(&one)), None);
    assert_eq!(journal.prune(&one, 10.0).unwrap(), Pruned::default());
    journal.append_synced(&one, &ended[0]).unwrap();
    assert_eq!(records_on(&disk, &one), ended[..1]);
}

#[test]
fn a_file_with_a_problem_is_left_alone() {
    let one = session("one");
    let bytes = [lines(&mixed(&one)), b"{\"torn".to_vec()].concat();
    let disk = disk_with(&one, &bytes);
    let error = open(&disk).prune(&one, 10.0).unwrap_err();
    assert!(matches!(error, JournalError::Unsound(1)), "{error:?}");
    assert_eq!(disk.content(&file_name(&one)).unwrap(), bytes);
}

#[test]
fn appends_go_on_in_the_new_file() {
    let one = session("one");
    let disk = CrashDisk::default();
    let journal = open(&disk);
    let records = mixed(&one);
    for record in &records {
        journal.append(&one, record).unwrap();
    }
    journal.prune(&one, 10.0).unwrap();
    let next = submitted(&one, "next", 60.0, "next");
    journal.append_synced(&one, &next).unwrap();
    let expected = [without_the_old(&records), vec![next]].concat();
    assert_eq!(disk.content(&file_name(&one)).unwrap(), lines(&expected));
    assert_eq!(disk.open_files(), 1);
}

#[test]
fn appends_side_by_side_with_pruning_lose_nothing() {
    let one = session("one");
    let disk = CrashDisk::default();
    let journal = open(&disk);
    thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..200 {
                let turn = format!("t{number}");
                journal.append_synced(&one, &submitted(&one, &turn, 1.0, "")).unwrap();
                if number % 2 == 0 {
                    journal.append(&one, &record(&one, &turn, 2.0, interrupted("even"))).unwrap();
                }
            }
        });
        while !writer.is_finished() {
            journal.prune(&one, 10.0).unwrap();
        }
    });
    journal.prune(&one, 10.0).unwrap();
    let read = journal.read(&one, Load::Everything).unwrap().unwrap();
    assert_eq!((read.turns.len(), read.problems.len()), (100, 0));
}

#[test]
fn a_crash_at_any_moment_leaves_the_old_file_or_the_new() {
    let one = session("one");
    let mut all_ended = mixed(&one);
    all_ended.retain(|record| record.turn_id.as_str() == "stopped");
    let mut cases = 0;
    for old in [mixed(&one), all_ended] {
        let new = without_the_old(&old);
        let rehearsal = disk_with(&one, &lines(&old));
        open(&rehearsal).prune(&one, 10.0).unwrap();
        for (number, operation) in rehearsal.take_operations().into_iter().enumerate() {
            let mut moments = vec![Moment::Before, Moment::After];
            if let Operation::Append(length) = operation {
                moments.extend((1..length).map(Moment::Torn));
            }
            for moment in moments {
                let disk = disk_with(&one, &lines(&old));
                disk.crash_at(number, moment);
                open(&disk).prune(&one, 10.0).unwrap_err();
                for (data, names) in fates() {
                    let restarted = disk.reboot(data, names);
                    let content = restarted.content(&file_name(&one)).unwrap_or_default();
                    assert!([lines(&old), lines(&new)].contains(&content));
                    let journal = open(&restarted);
                    assert_eq!(journal.list().unwrap().unknown_files, Vec::<String>::new());
                    journal.prune(&one, 10.0).unwrap();
                    let content = restarted.content(&file_name(&one)).unwrap_or_default();
                    assert_eq!(content, lines(&new));
                    cases += 1;
                }
            }
        }
    }
    println!("{cases} crashes while pruning survived");
    assert!(cases > 1000, "{cases}");
}

#[test]
fn a_new_file_whose_name_was_not_synced_gets_no_promise_before_it_is() {
    let one = session("one");
    let disk = disk_with(&one, &lines(&mixed(&one)));
    let journal = open(&disk);
    disk.fail(ErrorKind::Other, 0, |operation| operation == Operation::SyncFolder);
    journal.prune(&one, 10.0).unwrap_err();
    let next = submitted(&one, "next", 60.0, "next");
    journal.append_synced(&one, &next).unwrap_err();
    disk.heal();
    journal.append_synced(&one, &next).unwrap();
    for (data, names) in fates() {
        assert!(records_on(&disk.reboot(data, names), &one).contains(&next));
    }
}

#[test]
fn a_full_disk_stops_pruning_and_keeps_the_file() {
    let one = session("one");
    let disk = disk_with(&one, &lines(&mixed(&one)));
    let journal = open(&disk);
    disk.fail(ErrorKind::StorageFull, 30, |operation| matches!(operation, Operation::Append(_)));
    let error = journal.prune(&one, 10.0).unwrap_err();
    assert!(matches!(error, JournalError::Full(_)), "{error:?}");
    assert_eq!(disk.content(&file_name(&one)).unwrap(), lines(&mixed(&one)));
    assert_eq!(journal.list().unwrap().unknown_files, Vec::<String>::new());
    disk.heal();
    assert_eq!(journal.prune(&one, 10.0).unwrap(), Pruned { turns: 2, kept: 2 });
}
