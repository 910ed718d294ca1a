use proptest::prelude::*;
use throughline::domain::ids::{Epoch, Seq};
use throughline::domain::replay::{Cursor, Verdict, judge};

fn epoch(name: &str) -> Epoch {
    Epoch::parse(name).unwrap()
}

fn cursor(seq: u64) -> Cursor {
    Cursor { epoch: epoch("now"), seq: Seq(seq) }
}

#[test]
fn the_next_event_is_applied() {
    assert_eq!(judge(&cursor(4), &epoch("now"), Seq(5)), Verdict::Apply);
}

#[test]
fn a_hole_or_another_epoch_means_fetching_anew() {
    assert_eq!(judge(&cursor(4), &epoch("now"), Seq(6)), Verdict::Refetch);
    assert_eq!(judge(&cursor(4), &epoch("later"), Seq(5)), Verdict::Refetch);
}

proptest! {
    /// Whatever is delivered twice, late or out of order: what was applied is 1, 2, 3 … without a
    /// hole, as far as it went.
    #[test]
    fn applied_numbers_have_no_hole_and_no_repeat(numbers in prop::collection::vec(1_u64..20, 0..60)) {
        let mut last = cursor(0);
        let mut applied = Vec::new();
        for number in numbers {
            if judge(&last, &epoch("now"), Seq(number)) == Verdict::Apply {
                last.seq = Seq(number);
                applied.push(number);
            }
        }
        let expected: Vec<u64> = (1..=applied.len() as u64).collect();
        prop_assert_eq!(applied, expected);
    }
}
