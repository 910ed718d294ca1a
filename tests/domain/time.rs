use proptest::prelude::*;
use throughline::domain::time::Timestamp;

fn check(text: &str, expect: Option<i64>) {
    assert_eq!(Timestamp::parse(text).map(Timestamp::millis), expect, "{text:?}");
}

#[test]
fn times_are_read_with_fractions_and_offsets() {
    check("1970-01-01T00:00:00Z", Some(0));
    check("2000-02-29T12:30:45.678Z", Some(951_827_445_678));
    check("2026-11-16T05:04:08.1234567+02:00", Some(1_794_798_248_123));
    check("2026-11-15T20:04:08-07:00", Some(1_794_798_248_000));
    check("1969-12-31T23:59:59.999Z", Some(-1));
}

#[test]
fn times_that_do_not_exist_are_refused() {
    for text in [
        "",
        "yesterday",
        "2025-02-29T00:00:00Z",
        "2025-13-01T00:00:00Z",
        "2025-00-10T00:00:00Z",
        "2025-01-01T24:00:00Z",
        "2025-01-01T00:60:00Z",
        "2025-01-01T00:00:00",
        "2025-01-01",
        "2025-01-01T00:00:00.Z",
        "2025-01-01T00:00:00+0200",
        "2025-01-01T00:00:00Zjunk",
        "２０２５-01-01T00:00:00Z",
    ] {
        check(text, None);
    }
}

#[test]
fn times_are_also_read_from_epoch_seconds() {
    let read = |json: &str| serde_json::from_str::<Timestamp>(json).map(Timestamp::millis).ok();
    assert_eq!(read("1778458282.123"), Some(1_778_458_282_123));
    assert_eq!(read("1778458282"), Some(1_778_458_282_000));
    assert_eq!(read("-1"), Some(-1000));
    assert_eq!(read("true"), None);
}

proptest! {
    #[test]
    fn times_survive_being_written_and_read(millis in Timestamp::MIN.millis()..=Timestamp::MAX.millis()) {
        let time = Timestamp::from_millis(millis);
        prop_assert_eq!(Timestamp::parse(&time.to_string()), Some(time));
    }

    #[test]
    fn times_never_panic(text in ".{0,40}") {
        let _ = Timestamp::parse(&text);
    }

    #[test]
    fn times_sort_as_their_text_does(left in 0_i64..4_102_444_800_000, right in 0_i64..4_102_444_800_000) {
        let (left, right) = (Timestamp::from_millis(left), Timestamp::from_millis(right));
        prop_assert_eq!(left.cmp(&right), left.to_string().cmp(&right.to_string()));
    }
}
