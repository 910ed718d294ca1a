use proptest::prelude::*;
use throughline::domain::ids::{BlobId, MessageId, SessionId, TurnId};
use throughline::domain::message::Attachment;
use throughline::wire::journal::{LONGEST_LINE, Malformed, Record, Submission, TurnEvent};

fn record(event: TurnEvent) -> Record {
    let turn = TurnId::parse("t-1").unwrap();
    Record::new(&turn, &SessionId::parse("s:1").unwrap(), 1778458282.123, event)
}

fn submission(content: &str) -> Submission {
    Submission {
        content: content.into(),
        attachments: Vec::new(),
        workspace: "/workspace".into(),
        model: None,
        model_provider: None,
    }
}

fn check(line: &str, expected: Result<TurnEvent, Malformed>) {
    assert_eq!(Record::from_line(line.as_bytes()).map(|record| record.event), expected, "{line}");
}

#[test]
fn a_line_is_written_as_the_format_names_it() {
    let attachment = Attachment {
        blob: BlobId::parse("abc").unwrap(),
        name: "a.png".into(),
        media_type: "image/png".into(),
        size: 3,
    };
    let submitted = Submission {
        attachments: vec![attachment],
        model: Some("gpt-5".into()),
        model_provider: Some("openai".into()),
        ..submission("one\ntwo")
    };
    let mut submitted = record(TurnEvent::Submitted(submitted));
    submitted.stream_id = Some("stream-x".into());
    assert_eq!(
        submitted.to_line().unwrap(),
        concat!(
            r#"{"version":1,"event":"submitted","turn_id":"t-1","session_id":"s:1","#,
            r#""stream_id":"stream-x","created_at":1778458282.123,"role":"user","#,
            r#""content":"one\ntwo","attachments":[{"blob":"abc","name":"a.png","#,
            r#""media_type":"image/png","size":3}],"workspace":"/workspace","#,
            r#""model":"gpt-5","model_provider":"openai"}"#,
            "\n"
        )
    );
    let plain = |event: TurnEvent| record(event).to_line().unwrap();
    assert_eq!(
        plain(TurnEvent::WorkerStarted),
        concat!(
            r#"{"version":1,"event":"worker_started","turn_id":"t-1","session_id":"s:1","#,
            r#""created_at":1778458282.123}"#,
            "\n"
        )
    );
    let reason = Some("server_startup_recovery".to_owned());
    assert!(plain(TurnEvent::Interrupted { reason }).contains(r#","reason":"server_startup_rec"#));
    let assistant_message_id = Some(MessageId::parse("m-7").unwrap());
    let completed = plain(TurnEvent::Completed { assistant_message_id });
    assert!(completed.contains(r#","assistant_message_id":"m-7"}"#));
}

#[test]
fn lines_of_the_source_document_are_understood() {
    let submitted = concat!(
        r#"{"version": 1, "event": "submitted", "turn_id": "20260511T001122Z-abcdef", "#,
        r#""session_id": "abc123", "stream_id": "stream-xyz", "created_at": 1778458282.123, "#,
        r#""role": "user", "content": "...", "attachments": [], "workspace": "/workspace", "#,
        r#""model": "openai/gpt-5", "model_provider": "openai"}"#
    );
    let expected = Submission {
        model: Some("openai/gpt-5".into()),
        model_provider: Some("openai".into()),
        ..submission("...")
    };
    check(submitted, Ok(TurnEvent::Submitted(expected)));
    check(
        r#"{"version":1,"event":"completed","turn_id":"t","created_at":9,"assistant_message_index":12}"#,
        Ok(TurnEvent::Completed { assistant_message_id: None }),
    );
    check(
        r#"{"version":1,"event":"interrupted","turn_id":"t","created_at":9.5,"reason":"why"}"#,
        Ok(TurnEvent::Interrupted { reason: Some("why".into()) }),
    );
}

#[test]
fn a_version_is_upgraded_or_told_to_be_newer() {
    let line = |version: &str| {
        format!(r#"{{{version}"event":"worker_started","turn_id":"t","created_at":1}}"#)
    };
    for old in ["", r#""version":null,"#, r#""version":0,"#, r#""version":1,"#] {
        check(&line(old), Ok(TurnEvent::WorkerStarted));
    }
    check(&line(r#""version":2,"#), Err(Malformed::NewerVersion(2)));
    check(&line(r#""version":"one","#), Err(Malformed::Version));
    check(&line(r#""version":1.5,"#), Err(Malformed::Version));
}

#[test]
fn a_bad_line_is_told_apart_by_what_is_wrong() {
    let cases = [
        ("", Malformed::NotJson),
        ("[]", Malformed::NotJson),
        ("\"submitted\"", Malformed::NotJson),
        (r#"{"event":"submitted""#, Malformed::NotJson),
        ("{} {}", Malformed::NotJson),
        ("\0\0\0", Malformed::Zeros),
        ("{}", Malformed::Event),
        (r#"{"event":"resumed","turn_id":"t","created_at":1}"#, Malformed::Event),
        (r#"{"event":7,"turn_id":"t","created_at":1}"#, Malformed::Event),
        (r#"{"event":"completed","created_at":1}"#, Malformed::TurnId),
        (r#"{"event":"completed","turn_id":"","created_at":1}"#, Malformed::TurnId),
        (r#"{"event":"completed","turn_id":"../x","created_at":1}"#, Malformed::TurnId),
        (
            r#"{"event":"completed","turn_id":"t","session_id":"/","created_at":1}"#,
            Malformed::SessionId,
        ),
        (r#"{"event":"completed","turn_id":"t"}"#, Malformed::Time),
        (r#"{"event":"completed","turn_id":"t","created_at":"noon"}"#, Malformed::Time),
        (r#"{"event":"completed","turn_id":"t","created_at":null}"#, Malformed::Time),
        (r#"{"event":"submitted","turn_id":"t","created_at":1}"#, Malformed::Content),
        (r#"{"event":"submitted","turn_id":"t","created_at":1,"content":5}"#, Malformed::Content),
        (
            r#"{"event":"submitted","turn_id":"t","created_at":1,"content":"","role":"system"}"#,
            Malformed::Role,
        ),
        (
            r#"{"event":"submitted","turn_id":"t","created_at":1,"content":"","attachments":[1]}"#,
            Malformed::Attachments,
        ),
    ];
    for (line, reason) in cases {
        check(line, Err(reason));
    }
    assert_eq!(Record::from_line(b"{\"event\":\"\xff\"}"), Err(Malformed::NotText));
    let deep = "[".repeat(100_000);
    check(&deep, Err(Malformed::NotJson));
}

#[test]
fn what_could_not_be_read_back_is_not_written() {
    let fitting = "x".repeat(LONGEST_LINE - 1000);
    let line = record(TurnEvent::Submitted(submission(&fitting))).to_line().unwrap();
    assert!(Record::from_line(line.as_bytes()).is_ok());
    let endless = record(TurnEvent::Submitted(submission(&"x".repeat(LONGEST_LINE))));
    assert_eq!(endless.to_line(), Err(Malformed::TooLong));
    let timeless = Record { created_at: f64::NAN, ..record(TurnEvent::WorkerStarted) };
    assert_eq!(timeless.to_line(), Err(Malformed::Time));
}

proptest! {
    #[test]
    fn any_words_come_back_from_one_line(content in any::<String>(), millis in 0_u32..) {
        let mut record = record(TurnEvent::Submitted(submission(&content)));
        record.created_at = f64::from(millis) / 1000.0;
        let line = record.to_line().unwrap();
        prop_assert_eq!(line.find('\n'), Some(line.len() - 1));
        prop_assert_eq!(Record::from_line(line.as_bytes()), Ok(record));
    }

    #[test]
    fn no_part_of_a_line_is_taken_for_a_whole(content in any::<String>(), share in 0.0..1.0) {
        let line = record(TurnEvent::Submitted(submission(&content))).to_line().unwrap();
        let whole = line.len() - 1;
        let part = &line.as_bytes()[..(whole as f64 * share) as usize];
        prop_assert!(Record::from_line(part).is_err());
    }

    #[test]
    fn any_bytes_are_read_without_harm(bytes in any::<Vec<u8>>()) {
        let _ = Record::from_line(&bytes);
    }
}
