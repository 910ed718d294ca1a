use proptest::prelude::*;
use throughline::domain::ids::{InvalidId, SessionId};

fn check(text: &str, expect: Result<(), InvalidId>) {
    assert_eq!(SessionId::parse(text).map(drop), expect, "{text:?}");
}

#[test]
fn ids_accept_the_alphabet_of_the_contract() {
    check("01a1e273061374f6a248eb9026068d92", Ok(()));
    check("20260511T001122Z-abcdef_.:", Ok(()));
    check(&"a".repeat(128), Ok(()));
}

#[test]
fn ids_refuse_blank_long_and_foreign_texts() {
    check("", Err(InvalidId::Blank));
    check(" \t", Err(InvalidId::Blank));
    check(&"a".repeat(129), Err(InvalidId::TooLong));
    check("a/b", Err(InvalidId::Character('/')));
    check("<script>", Err(InvalidId::Character('<')));
    check("naïve", Err(InvalidId::Character('ï')));
}

proptest! {
    #[test]
    fn ids_read_from_json_exactly_when_they_parse(text in ".{0,140}") {
        let json = serde_json::to_string(&text).unwrap();
        let read = serde_json::from_str::<SessionId>(&json).ok();
        prop_assert_eq!(read, SessionId::parse(&text).ok());
    }
}
