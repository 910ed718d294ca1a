//! The promise, with the power cut at every operation.

use throughline::domain::ids::SessionId;
use throughline::domain::turn::Step;
use throughline::server::journal::{Journal, Load, Problem};
use throughline::wire::journal::{Record, TurnEvent};

use super::{completed, crashes, interrupted, open, record, records_on, session, submitted};
use crate::crash_storage::{CrashDisk, FATES, Fate, Moment, fates};

/// Several turns of two sessions, side by side; what is submitted is synced.
fn script() -> Vec<(SessionId, Record)> {
    let (one, two) = (session("one"), session("two:a.b"));
    let step = |session: &SessionId, turn: &str, event| {
        (session.clone(), record(session, turn, 2.0, event))
    };
    let submit = |session: &SessionId, turn: &str, content: &str| {
        (session.clone(), submitted(session, turn, 1.0, content))
    };
    vec![
        submit(&one, "t1", "first"),
        step(&one, "t1", TurnEvent::WorkerStarted),
        submit(&two, "t2", "Grüße, 世界 🌍"),
        step(&one, "t1", TurnEvent::AssistantStarted),
        step(&two, "t2", TurnEvent::WorkerStarted),
        step(&one, "t1", completed()),
        submit(&one, "t3", "continue"),
        step(&two, "t2", interrupted("stopped")),
        submit(&one, "t4", "continue"),
        submit(&two, "t5", "🌍🌍\n\"\\"),
        step(&one, "t3", TurnEvent::WorkerStarted),
        step(&two, "t5", TurnEvent::WorkerStarted),
        submit(&two, "t6", ""),
    ]
}

fn write(journal: &Journal, session: &SessionId, record: &Record) -> bool {
    let written = match record.event.step() {
        Step::Submitted => journal.append_synced(session, record),
        _ => journal.append(session, record),
    };
    written.is_ok()
}

/// Plays records until the power goes, and gives back those that were promised.
fn play(disk: &CrashDisk, records: &[(SessionId, Record)]) -> Vec<(SessionId, Record)> {
    let journal = open(disk);
    let done = records.iter().take_while(|(session, record)| write(&journal, session, record));
    done.filter(|(_, record)| record.event.step() == Step::Submitted).cloned().collect()
}

/// Expects what was promised exactly once, the rest at most once, all in order, nothing invented.
fn check(disk: &CrashDisk, script: &[(SessionId, Record)], promised: &[(SessionId, Record)]) {
    for session in [session("one"), session("two:a.b")] {
        let found = records_on(disk, &session);
        let written: Vec<&Record> = script
            .iter()
            .filter(|(owner, _)| *owner == session)
            .map(|(_, record)| record)
            .collect();
        let place = |record: &Record| written.iter().position(|written| *written == record);
        let places: Option<Vec<usize>> = found.iter().map(place).collect();
        let places = places.expect("something was invented");
        assert!(places.is_sorted_by(|one, next| one < next), "doubled or out of order: {places:?}");
        for (_, record) in promised.iter().filter(|(owner, _)| *owner == session) {
            assert!(found.contains(record), "a promise is broken: {record:?}");
        }
        let journal = open(disk).read(&session, Load::Everything).unwrap();
        let problems = journal.map(|journal| journal.problems).unwrap_or_default();
        let only_torn = problems.iter().all(|it| matches!(it, Problem::Malformed { .. }));
        assert!(only_torn, "{problems:?}");
    }
}

/// Goes on after a crash: what is written now stands by itself and takes nothing with it.
fn go_on(disk: &CrashDisk, script: &[(SessionId, Record)], promised: &[(SessionId, Record)]) {
    let (one, two) = (session("one"), session("two:a.b"));
    let more = [
        (one.clone(), submitted(&one, "t7", 3.0, "after")),
        (two.clone(), submitted(&two, "t8", 3.0, "after")),
    ];
    let mut promised = promised.to_vec();
    promised.extend(play(disk, &more));
    assert!(promised.ends_with(&more), "appending does not work after the restart");
    let all = [script, more.as_slice()].concat();
    check(&disk.reboot(Fate::Lost, Fate::Lost), &all, &promised);
}

#[test]
fn every_promise_outlives_a_crash_at_every_operation() {
    let script = script();
    let rehearsal = CrashDisk::default();
    assert_eq!(play(&rehearsal, &script).len(), 6);
    let mut cases = 0;
    // Steps of three go through every place inside a character of four bytes.
    for disk in crashes(&rehearsal, 3) {
        let promised = play(&disk, &script);
        for (data, names) in fates() {
            let restarted = disk.reboot(data, names);
            check(&restarted, &script, &promised);
            go_on(&restarted, &script, &promised);
            cases += 1;
        }
    }
    println!("{cases} crashes survived");
    assert!(cases > 5000, "{cases}");
}

#[test]
fn a_crash_while_going_on_after_a_crash_breaks_no_promise_either() {
    let script = script();
    let (before, after) = script.split_at(7);
    let rehearsal = CrashDisk::default();
    play(&rehearsal, before);
    let operations = rehearsal.take_operations().len();
    let mut cases = 0;
    for number in 0..operations {
        let crashes =
            [Moment::After, Moment::Torn(40)].map(|moment| FATES.map(|fate| (moment, fate)));
        for (moment, fate) in crashes.concat() {
            let first = CrashDisk::default();
            first.crash_at(number, moment);
            let promised = play(&first, before);
            for (second, fate_then) in (0..12).flat_map(|at| FATES.map(|fate| (at, fate))) {
                let disk = first.reboot(fate, fate);
                disk.crash_at(second, moment);
                let promised = [promised.clone(), play(&disk, after)].concat();
                let restarted = disk.reboot(fate_then, fate_then);
                for (session, record) in &promised {
                    let found = records_on(&restarted, session);
                    assert_eq!(found.iter().filter(|found| *found == record).count(), 1);
                }
                cases += 1;
            }
        }
    }
    println!("{cases} double crashes survived");
    assert!(cases > 1000, "{cases}");
}
