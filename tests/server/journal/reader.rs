//! A zoo of bad files: each beast is named, and none eats what comes after it.

use throughline::domain::ids::TurnId;
use throughline::domain::turn::{IllegalTransition, Step};
use throughline::server::journal::{ForeignEdit, Load, Problem, SessionJournal, read_session};
use throughline::wire::journal::{LONGEST_LINE, Malformed, TurnEvent};

use super::{completed, interrupted, lines, record, session, submitted};

const SUBMITTED: &str =
    r#"{"version":1,"event":"submitted","turn_id":"a","created_at":1,"content":"hello"}"#;
const AFTER: &str =
    r#"{"version":1,"event":"submitted","turn_id":"z","created_at":9,"content":"after"}"#;

fn read(bytes: &[u8]) -> SessionJournal {
    read_session(&session("s"), bytes, Load::Everything).unwrap()
}

fn malformed(line: usize, reason: Malformed) -> Problem {
    Problem::Malformed { line, reason, torn_tail: false }
}

fn torn(line: usize, reason: Malformed) -> Problem {
    Problem::Malformed { line, reason, torn_tail: true }
}

fn illegal(line: usize, turn: &str, state: Option<Step>, event: Step) -> Problem {
    let turn_id = TurnId::parse(turn).unwrap();
    Problem::Illegal { line, turn_id, transition: IllegalTransition { state, event } }
}

/// Puts bytes between two good lines and expects both turns and exactly these problems.
fn check(between: impl AsRef<[u8]>, expected: &[Problem]) {
    let bytes = [SUBMITTED.as_bytes(), b"\n", between.as_ref(), b"\n", AFTER.as_bytes(), b"\n"];
    let journal = read(&bytes.concat());
    assert_eq!(journal.problems, expected);
    let turns: Vec<&str> = journal.turns.iter().map(|turn| turn.turn_id.as_str()).collect();
    assert_eq!(turns, ["a", "z"]);
    assert!(journal.turns.iter().all(|turn| turn.state == Step::Submitted));
}

#[test]
fn a_bad_line_is_reported_and_the_rest_is_read() {
    check("", &[]);
    check(" \t\r", &[]);
    check("{\"version\":1,\"event\":\"sub", &[malformed(2, Malformed::NotJson)]);
    check(b"\x00\x01\xfe\xff\x80garbage", &[malformed(2, Malformed::NotText)]);
    check([0; 4096], &[malformed(2, Malformed::Zeros)]);
    check(format!("\0\0\0{AFTER}"), &[malformed(2, Malformed::Zeros)]);
    check(&SUBMITTED[..70], &[malformed(2, Malformed::NotJson)]);
    check(format!("{SUBMITTED}{AFTER}"), &[malformed(2, Malformed::NotJson)]);
    check(SUBMITTED.replace(":1,\"content", ":\"x\",\"content"), &[malformed(2, Malformed::Time)]);
    check(SUBMITTED.replace("submitted", "resumed"), &[malformed(2, Malformed::Event)]);
    check(SUBMITTED.replace("\"a\"", "\"a b\""), &[malformed(2, Malformed::TurnId)]);
    check(
        SUBMITTED.replace(":1,\"event", ":7,\"event"),
        &[malformed(2, Malformed::NewerVersion(7))],
    );
    let elsewhere = SUBMITTED.replace("\"a\"", "\"b\",\"session_id\":\"other\"");
    check(elsewhere, &[malformed(2, Malformed::OtherSession(session("other")))]);
    check(format!("\u{feff}{AFTER}"), &[malformed(2, Malformed::NotJson)]);
}

#[test]
fn a_step_that_does_not_fit_is_reported_and_changes_nothing() {
    check(SUBMITTED, &[illegal(2, "a", Some(Step::Submitted), Step::Submitted)]);
    let step = |turn: &str, event: &str| {
        format!(r#"{{"version":1,"event":"{event}","turn_id":"{turn}","created_at":5}}"#)
    };
    let early = illegal(2, "a", Some(Step::Submitted), Step::Completed);
    check(step("a", "completed"), &[early]);
    check(step("ghost", "worker_started"), &[illegal(2, "ghost", None, Step::WorkerStarted)]);
    let both = [step("ghost", "interrupted"), "?".into()].join("\n");
    check(both, &[illegal(2, "ghost", None, Step::Interrupted), malformed(3, Malformed::NotJson)]);
}

#[test]
fn a_line_of_any_length_is_skipped_without_being_held() {
    for length in [LONGEST_LINE, LONGEST_LINE + 1, 3 * LONGEST_LINE + 7] {
        check("x".repeat(length), &[malformed(2, Malformed::TooLong)]);
    }
    check("x".repeat(LONGEST_LINE - 1), &[malformed(2, Malformed::NotJson)]);
    let endless = [SUBMITTED.as_bytes(), b"\n", &vec![b'x'; 2 * LONGEST_LINE]].concat();
    assert_eq!(read(&endless).problems, [malformed(2, Malformed::TooLong)]);
}

#[test]
fn a_long_but_valid_line_is_read_whole() {
    let session = session("s");
    let content = "é".repeat(500_000);
    let journal = read(&lines(&[submitted(&session, "long", 1.0, &content)]));
    assert_eq!(journal.problems, []);
    assert_eq!(journal.turns[0].submission.as_ref().unwrap().content, content);
}

#[test]
fn a_torn_tail_is_told_from_a_line_that_only_lacks_its_newline() {
    assert_eq!(read(b""), read(b"\n\n"));
    let whole = read(format!("{SUBMITTED}\n{AFTER}").as_bytes());
    assert_eq!((whole.turns.len(), whole.problems), (2, vec![]));
    for end in 1..AFTER.len() {
        let journal = read(format!("{SUBMITTED}\n{}", &AFTER[..end]).as_bytes());
        assert_eq!(journal.problems, [torn(2, Malformed::NotJson)]);
        assert_eq!(journal.turns.len(), 1);
    }
    let zeros = [SUBMITTED.as_bytes(), b"\n\0\0\0\0"].concat();
    assert_eq!(read(&zeros).problems, [torn(2, Malformed::Zeros)]);
    let inside_a_character = [SUBMITTED.as_bytes(), b"\n{\"content\":\"\xF0\x9F"].concat();
    assert_eq!(read(&inside_a_character).problems, [torn(2, Malformed::NotText)]);
    let strange = AFTER.replace("submitted", "resumed");
    assert_eq!(read(strange.as_bytes()).problems, [malformed(1, Malformed::Event)]);
}

#[test]
fn marks_of_another_program_are_reported_and_the_words_are_kept() {
    let journal = read(format!("\u{feff}{SUBMITTED}\r\n{AFTER}\r\n").as_bytes());
    let edited = |line, edit| Problem::Edited { line, edit };
    let expected = [
        edited(1, ForeignEdit::ByteOrderMark),
        edited(1, ForeignEdit::CarriageReturn),
        edited(2, ForeignEdit::CarriageReturn),
    ];
    assert_eq!(journal.problems, expected);
    assert_eq!(journal.turns.len(), 2);
}

#[test]
fn turns_are_told_with_their_last_step() {
    let s = session("s");
    let bytes = lines(&[
        submitted(&s, "a", 1.0, "one"),
        submitted(&s, "b", 2.0, "two"),
        record(&s, "a", 3.0, TurnEvent::WorkerStarted),
        record(&s, "b", 4.0, interrupted("stopped")),
        record(&s, "a", 5.0, TurnEvent::AssistantStarted),
        submitted(&s, "c", 6.0, "three"),
        record(&s, "a", 7.0, completed()),
    ]);
    let journal = read(&bytes);
    assert_eq!(journal.problems, []);
    let told: Vec<_> = journal
        .turns
        .iter()
        .map(|turn| (turn.turn_id.as_str(), turn.state, turn.submitted_at, turn.last_at, turn.line))
        .collect();
    let expected = [
        ("a", Step::Completed, 1.0, 7.0, 1),
        ("b", Step::Interrupted, 2.0, 4.0, 2),
        ("c", Step::Submitted, 6.0, 6.0, 6),
    ];
    assert_eq!(told, expected);
    assert_eq!(journal.turns[1].reason.as_deref(), Some("stopped"));
    assert!(journal.turns.iter().all(|turn| turn.submission.is_some()));

    let pending = read_session(&s, bytes.as_slice(), Load::Pending).unwrap();
    let words = pending.turns.iter().map(|turn| turn.submission.is_some());
    assert_eq!(words.collect::<Vec<_>>(), [false, false, true]);
}

#[test]
fn problems_are_told_in_sentences() {
    let problems = [
        (torn(3, Malformed::NotJson), "Line 3, the last, was cut short by a crash."),
        (malformed(2, Malformed::Time), "Line 2 cannot be used: its time is not a finite number."),
        (
            illegal(4, "a", Some(Step::Completed), Step::Interrupted),
            "Line 4 does not fit turn a: interrupted cannot follow completed.",
        ),
        (
            Problem::Edited { line: 1, edit: ForeignEdit::ByteOrderMark },
            "Line 1 begins with a byte order mark: another program saved this file.",
        ),
    ];
    for (problem, sentence) in problems {
        assert_eq!(problem.to_string(), sentence);
    }
}
