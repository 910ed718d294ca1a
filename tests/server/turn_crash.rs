//! The promise of the journal, kept by a whole server whose process dies or whose power goes at
//! every single operation of a turn's journal.

mod life;
pub mod rows;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use throughline::domain::ids::SessionId;
use throughline::domain::turn::Step;
use throughline::server::journal::{Problem, SessionJournal};

use crate::crash_storage::{CrashDisk, Fate, Moment, Operation, fates};
use life::{Before, Wreck, recover};
use rows::{Row, Rows};

const TURN: &str = "turn-that-crashes";

/// What there is after a restart: the store's files, and what the journal's disk shows.
struct Remains<'a> {
    store: &'a Path,
    disk: CrashDisk,
}

/// Lists every way in which the power can go during one operation.
fn moments(operation: Operation) -> Vec<Moment> {
    let mut moments = vec![Moment::Before, Moment::After];
    if let Operation::Append(length) = operation {
        moments.extend([1, length / 2, length - 1].map(Moment::Torn));
    }
    moments
}

/// Plays one turn into a crash at every operation, and recovers from everything that can be left.
struct Proof {
    before: Before,
    prompt: &'static str,
    /// What the turn looks like when nothing happens to it.
    undisturbed: Rows,
    operations: Vec<Operation>,
    tally: Tally,
}

#[derive(Debug, Default)]
struct Tally {
    cases: usize,
    /// Of those, how many differ in what is left.
    distinct: usize,
    acknowledged: usize,
    lost: usize,
}

impl Proof {
    fn new(before: Before, prompt: &'static str) -> Self {
        let (undisturbed, operations) = before.rehearse(TURN, prompt);
        assert_eq!(undisturbed.of(TURN, "user").len(), 1);
        assert_eq!(undisturbed.of(TURN, "assistant")[0].state, "complete");
        Self { before, prompt, undisturbed, operations, tally: Tally::default() }
    }

    fn run(mut self) -> Tally {
        for number in 0..self.operations.len() {
            for moment in moments(self.operations[number]) {
                let wreck = self.before.crash(TURN, self.prompt, number, moment);
                self.recover_all(number, &wreck);
            }
        }
        self.tally
    }

    /// The server lets the store reach the disk for certain only before it writes a turn's end, so
    /// a power cut before that may show the store as it was before the turn.
    fn stores<'a>(&'a self, number: usize, wreck: &'a Wreck) -> Vec<&'a Path> {
        let is_append = |it: &Operation| matches!(it, Operation::Append(_));
        let end = self.operations.iter().rposition(is_append).unwrap();
        let killed = wreck.store.path();
        if number < end { vec![killed, self.before.store()] } else { vec![killed] }
    }

    fn recover_all(&mut self, number: usize, wreck: &Wreck) {
        let mut seen = BTreeSet::new();
        let mut tally = std::mem::take(&mut self.tally);
        for store in self.stores(number, wreck) {
            for (data, names) in fates() {
                let disk = wreck.disk.reboot(data, names);
                tally.cases += 1;
                tally.acknowledged += usize::from(wreck.acknowledged);
                if seen.insert((store, disk.files())) {
                    tally.distinct += 1;
                    let kept = self.check(&Remains { store, disk }, wreck);
                    tally.lost += usize::from(wreck.acknowledged && !kept);
                }
            }
        }
        self.tally = tally;
    }

    /// Starts the server on what is left, twice, and tells whether the turn is in the transcript.
    fn check(&self, remains: &Remains<'_>, wreck: &Wreck) -> bool {
        let place = format!("{:?}, files {:?}", wreck.crash, remains.disk.files());
        let recovered = recover(remains.store, &remains.disk);
        self.check_earlier(&recovered.rows, &place);
        let found = self.check_turn(&recovered.rows, &place);
        assert!(found || !wreck.acknowledged, "an acknowledged turn is lost: {place}");
        for journal in &recovered.journals {
            check_journal(journal, &recovered.rows, &place);
        }
        let (dump, files) = (recovered.dump.clone(), recovered.files.clone());
        let again = recovered.recover_again();
        assert_eq!(again.dump, dump, "a second recovery changed the store: {place}");
        assert_eq!(again.files, files, "or the journal: {place}");
        assert_eq!(again.operations, [], "or wrote to it: {place}");
        found
    }

    /// Turns that ended before stay as they were.
    fn check_earlier(&self, rows: &Rows, place: &str) {
        let earlier = |rows: &Rows| -> Vec<Row> {
            rows.all.iter().filter(|row| row.turn_id != TURN).cloned().collect()
        };
        assert_eq!(earlier(rows), earlier(&self.undisturbed), "{place}");
    }

    fn check_turn(&self, rows: &Rows, place: &str) -> bool {
        let (prompts, answers) = (rows.of(TURN, "user"), rows.of(TURN, "assistant"));
        let Some(prompt) = prompts.first() else {
            assert!(answers.is_empty(), "an answer to nothing: {place}");
            return false;
        };
        assert_eq!(prompts.len(), 1, "the turn is there twice: {place}");
        assert_eq!(prompt.texts, [self.prompt], "{place}");
        assert_eq!(answers.len(), 1, "{answers:?} {place}");
        let whole = &self.undisturbed.of(TURN, "assistant")[0].texts;
        let said = &answers[0].texts;
        match answers[0].state.as_str() {
            "complete" => assert_eq!(said, whole, "looks whole and is not: {place}"),
            "interrupted" => {
                let begun = said.iter().zip(whole).all(|(said, whole)| whole.starts_with(said));
                assert!(said.len() <= whole.len() && begun, "invented: {said:?} {place}");
            }
            other => panic!("the answer is {other}: {place}"),
        }
        true
    }
}

/// Every turn has its end, and it is the one that the transcript shows.
fn check_journal(journal: &SessionJournal, rows: &Rows, place: &str) {
    for turn in &journal.turns {
        let answer = rows.of(turn.turn_id.as_str(), "assistant");
        let shown = answer.first().map(|answer| answer.state.as_str());
        match turn.state {
            Step::Completed => assert_eq!(shown, Some("complete"), "{place}"),
            Step::Interrupted => assert_eq!(shown, Some("interrupted"), "{place}"),
            open => panic!("a turn is left {open}: {place}"),
        }
    }
    let only_torn = journal.problems.iter().all(|it| matches!(it, Problem::Malformed { .. }));
    assert!(only_torn, "{:?} {place}", journal.problems);
}

fn prove(name: &str, before: Before, prompt: &'static str) {
    let tally = Proof::new(before, prompt).run();
    println!(
        "{name}: {} crashes, {} distinct, {} of an acknowledged turn, {} lost",
        tally.cases, tally.distinct, tally.acknowledged, tally.lost
    );
    assert!(tally.cases > 400 && tally.acknowledged > 100, "{tally:?}");
    assert_eq!(tally.lost, 0);
}

#[test]
fn a_first_turn_survives_a_crash_at_every_operation() {
    prove("first turn", Before::new(&[]), "[[say Good morning to you.]]");
}

#[test]
fn a_second_turn_with_a_tool_survives_a_crash_at_every_operation() {
    let before = Before::new(&[("turn-before", "[[say Done before.]]")]);
    prove("second turn", before, "[[say One.]][[tool read notes.txt]][[say Two.]]");
}

/// The end of a recovered turn is written only once the store is on the disk, so whichever way
/// recovery ends, the store is as recovery left it.
#[test]
fn a_crash_during_recovery_is_recovered_from_as_well() {
    let before = Before::new(&[("turn-before", "[[say Done before.]]")]);
    let proof = Proof::new(before, "[[say One.]][[tool read notes.txt]][[say Two.]]");
    let mut cases = 0;
    for first in 0..proof.operations.len() {
        let wreck = proof.before.crash(TURN, proof.prompt, first, Moment::After);
        for store in proof.stores(first, &wreck) {
            let disk = wreck.disk.reboot(Fate::Kept, Fate::Kept);
            let operations = recover(store, &disk.reboot(Fate::Kept, Fate::Kept)).operations;
            let crashes = operations.iter().enumerate();
            let crashes = crashes.flat_map(|(number, it)| {
                moments(*it).into_iter().map(move |moment| (number, moment))
            });
            for (number, moment) in crashes {
                let again = wreck.crash_again(store, &disk, number, moment);
                for fate in [Fate::Lost, Fate::Kept, Fate::Part] {
                    let remains =
                        Remains { store: again.store.path(), disk: again.disk.reboot(fate, fate) };
                    proof.check(&remains, &again);
                    cases += 1;
                }
            }
        }
    }
    println!("{cases} crashes during recovery survived");
    assert!(cases > 100, "{cases}");
}

/// The proof must be able to fail: without its journal, an acknowledged turn is gone.
#[test]
fn without_the_journal_a_power_cut_takes_the_turn() {
    let before = Before::new(&[]);
    let proof = Proof::new(before, "[[say Gone.]]");
    let last = proof.operations.len() - 1;
    let wreck = proof.before.crash(TURN, proof.prompt, last, Moment::Before);
    assert!(wreck.acknowledged);
    let recovered = recover(proof.before.store(), &CrashDisk::default());
    assert!(!proof.check_turn(&recovered.rows, "no journal"));
}

type Files = BTreeMap<String, Vec<u8>>;

fn journals_on(disk: &CrashDisk) -> Vec<SessionJournal> {
    use throughline::server::journal::{Load, read_session, session_of};
    let read = |(name, bytes): (String, Vec<u8>)| {
        let session: SessionId = session_of(&name).unwrap();
        read_session(&session, &*bytes, Load::Everything).unwrap()
    };
    disk.files().into_iter().map(read).collect()
}
