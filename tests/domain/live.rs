use proptest::prelude::*;
use throughline::domain::event::{DeltaKind, Event, Outcome};
use throughline::domain::ids::{MessageId, RequestId, SessionId, TurnId};
use throughline::domain::live::{Change, Live};
use throughline::domain::message::{
    Choice, ChoiceTone, Message, MessageState, Part, Question, Role, ToolCall, ToolOutput,
    ToolState,
};
use throughline::domain::session::Status;
use throughline::domain::time::Timestamp;

const NOW: Timestamp = Timestamp::MAX;

fn id(name: &str) -> MessageId {
    MessageId::parse(name).unwrap()
}

fn turn(name: &str) -> TurnId {
    TurnId::parse(name).unwrap()
}

fn message(name: &str, state: MessageState) -> Message {
    Message {
        message_id: id(name),
        turn_id: Some(turn("t")),
        role: Role::Assistant,
        state,
        parts: Vec::new(),
        usage: None,
        created_at: NOW,
        ended_at: None,
        recovered: false,
    }
}

fn start(name: &str) -> Event {
    Event::MessageStart { message: message(name, MessageState::Streaming) }
}

fn delta(name: &str, part: usize, kind: DeltaKind, text: &str) -> Event {
    Event::MessageDelta { message_id: id(name), part, kind, text: text.into() }
}

fn tool(name: &str, part: usize, tool_id: &str) -> Event {
    let tool = Part::Tool(ToolCall {
        tool_id: tool_id.into(),
        name: "read".into(),
        target: "a.txt".into(),
        state: ToolState::Running,
        output: Vec::new(),
        started_at: NOW,
        ended_at: None,
    });
    Event::ToolStart { message_id: id(name), part, tool }
}

fn question(name: &str, part: usize, request: &str) -> Event {
    let question = Part::Question(Question {
        request_id: RequestId::parse(request).unwrap(),
        title: "Run it?".into(),
        detail: String::new(),
        options: vec![Choice {
            option: "yes".into(),
            label: "Yes".into(),
            tone: ChoiceTone::Allow,
        }],
        answer: None,
    });
    Event::Question { message_id: id(name), part, question }
}

fn fold(events: &[Event]) -> Live {
    let mut live = Live::default();
    for event in events {
        live.apply(event);
    }
    live
}

#[test]
fn deltas_of_one_kind_join_and_of_another_begin_a_part() {
    let live = fold(&[
        start("m"),
        delta("m", 0, DeltaKind::Thinking, "hm"),
        delta("m", 1, DeltaKind::Text, "Hel"),
        delta("m", 1, DeltaKind::Text, "lo"),
    ]);
    let parts = &live.messages[0].parts;
    assert_eq!(parts[0], Part::Thinking { text: "hm".into() });
    assert_eq!(parts[1], Part::Text { text: "Hello".into() });
}

#[test]
fn an_event_that_fits_nothing_changes_nothing() {
    let before = fold(&[start("m"), delta("m", 0, DeltaKind::Text, "a")]);
    for event in [
        delta("other", 0, DeltaKind::Text, "x"),
        delta("m", 0, DeltaKind::Thinking, "x"),
        delta("m", 7, DeltaKind::Text, "x"),
        Event::ToolEnd {
            message_id: id("m"),
            tool_id: "no".into(),
            state: ToolState::Done,
            at: NOW,
        },
    ] {
        let mut live = before.clone();
        assert_eq!(live.apply(&event), Change::Nothing);
        assert_eq!(live, before);
    }
}

#[test]
fn a_change_names_what_it_touched() {
    let mut live = Live::default();
    assert_eq!(live.apply(&start("m")), Change::Added(0));
    let change = live.apply(&delta("m", 0, DeltaKind::Text, "a"));
    assert_eq!(change, Change::Part { message: 0, part: 0 });
    let end = Event::MessageEnd { message_id: id("m"), state: MessageState::Complete, at: NOW };
    assert_eq!(live.apply(&end), Change::Message(0));
}

#[test]
fn a_message_that_ends_leaves_no_tool_running() {
    let live = fold(&[
        start("m"),
        tool("m", 0, "t1"),
        Event::MessageEnd { message_id: id("m"), state: MessageState::Cancelled, at: NOW },
    ]);
    let Part::Tool(tool) = &live.messages[0].parts[0] else { panic!("not a tool") };
    assert_eq!((tool.state, tool.ended_at), (ToolState::Skipped, Some(NOW)));
}

#[test]
fn tool_output_joins_text_and_keeps_diffs_apart() {
    let text = |text: &str| ToolOutput::Text { text: text.into() };
    let diff = ToolOutput::Diff { path: "a".into(), old: "1".into(), new: "2".into() };
    let update = |output| Event::ToolUpdate { message_id: id("m"), tool_id: "t1".into(), output };
    let live = fold(&[
        start("m"),
        tool("m", 0, "t1"),
        update(text("a")),
        update(text("b")),
        update(diff.clone()),
        update(text("c")),
    ]);
    let Part::Tool(tool) = &live.messages[0].parts[0] else { panic!("not a tool") };
    assert_eq!(tool.output, [text("ab"), diff, text("c")]);
}

#[test]
fn a_session_waits_until_its_last_question_is_answered() {
    let answered = |request: &str| Event::Answered {
        message_id: id("m"),
        request_id: RequestId::parse(request).unwrap(),
        option: "yes".into(),
    };
    let begin = Event::AgentStart { turn_id: turn("t"), at: NOW };
    let mut live = fold(&[begin, start("m"), question("m", 0, "q1"), question("m", 1, "q2")]);
    assert_eq!((live.status, live.open_questions()), (Status::Waiting, 2));
    live.apply(&answered("q1"));
    assert_eq!((live.status, live.open_questions()), (Status::Waiting, 1));
    live.apply(&answered("q2"));
    assert_eq!((live.status, live.open_questions()), (Status::Streaming, 0));
}

#[test]
fn a_question_outlives_the_server_until_its_message_is_closed() {
    let end = |state| Event::MessageEnd { message_id: id("m"), state, at: NOW };
    let mut live = fold(&[
        Event::AgentStart { turn_id: turn("t"), at: NOW },
        start("m"),
        question("m", 0, "q1"),
        end(MessageState::Waiting),
        Event::AgentEnd { turn_id: turn("t"), outcome: Outcome::Interrupted, at: NOW },
    ]);
    assert_eq!((live.status, live.open_questions()), (Status::Waiting, 1));
    live.apply(&end(MessageState::Interrupted));
    assert_eq!((live.status, live.open_questions()), (Status::Idle, 0));
}

#[test]
fn only_a_stop_of_the_server_keeps_an_open_question() {
    let asking = &fold(&[start("m"), question("m", 0, "q1")]).messages[0];
    let silent = &fold(&[start("m")]).messages[0];
    assert_eq!(Outcome::Interrupted.state_of(asking), MessageState::Waiting);
    assert_eq!(Outcome::Interrupted.state_of(silent), MessageState::Interrupted);
    assert_eq!(Outcome::Cancelled.state_of(asking), MessageState::Cancelled);
    assert_eq!(Outcome::Crashed.state_of(asking), MessageState::Crashed);
}

#[test]
fn the_end_of_a_turn_decides_the_status() {
    for (outcome, status) in [
        (Outcome::Completed, Status::Idle),
        (Outcome::Cancelled, Status::Idle),
        (Outcome::Failed, Status::Error),
        (Outcome::Crashed, Status::Error),
    ] {
        let begin = Event::AgentStart { turn_id: turn("t"), at: NOW };
        let end = Event::AgentEnd { turn_id: turn("t"), outcome, at: NOW };
        assert_eq!(fold(std::slice::from_ref(&begin)).status, Status::Streaming);
        let live = fold(&[begin, end]);
        assert_eq!((live.status, live.turn_id), (status, None));
    }
}

#[test]
fn compression_names_the_continuation() {
    let session = |name: &str| SessionId::parse(name).unwrap();
    let live =
        fold(&[Event::Compressed { snapshot: session("old"), continuation: session("new") }]);
    assert_eq!(live.continuation, Some(session("new")));
}

/// Any event at all, most of them fitting.
fn event() -> impl Strategy<Value = Event> {
    let name = prop::sample::select(vec!["a", "b", "c"]);
    let text = "[a-z ]{0,6}";
    prop_oneof![
        2 => name.clone().prop_map(start),
        6 => (name.clone(), 0_usize..4, text).prop_map(|(name, part, text)| delta(name, part, DeltaKind::Text, &text)),
        2 => (name.clone(), 0_usize..4, text).prop_map(|(name, part, text)| delta(name, part, DeltaKind::Thinking, &text)),
        2 => (name.clone(), 0_usize..4).prop_map(|(name, part)| tool(name, part, "t1")),
        2 => (name.clone(), text).prop_map(|(name, text)| Event::ToolUpdate {
            message_id: id(name), tool_id: "t1".into(), output: ToolOutput::Text { text },
        }),
        1 => (name.clone(), 0_usize..4).prop_map(|(name, part)| question(name, part, "q1")),
        1 => name.clone().prop_map(|name| Event::Answered {
            message_id: id(name), request_id: RequestId::parse("q1").unwrap(), option: "yes".into(),
        }),
        1 => name.prop_map(|name| Event::MessageEnd {
            message_id: id(name), state: MessageState::Complete, at: NOW,
        }),
        1 => Just(Event::AgentStart { turn_id: turn("t"), at: NOW }),
        1 => Just(Event::AgentEnd { turn_id: turn("t"), outcome: Outcome::Completed, at: NOW }),
    ]
}

proptest! {
    /// Fetching at any moment and applying what follows gives what a fetch at the end gives, also
    /// when the state went over the wire in between.
    #[test]
    fn folding_over_a_snapshot_equals_a_fresh_fetch(
        events in prop::collection::vec(event(), 0..60), cut in 0_usize..60,
    ) {
        let cut = cut.min(events.len());
        let json = serde_json::to_string(&fold(&events[..cut])).unwrap();
        let mut live: Live = serde_json::from_str(&json).unwrap();
        for event in &events[cut..] {
            live.apply(event);
        }
        prop_assert_eq!(live, fold(&events));
    }

    #[test]
    fn events_survive_the_wire(event in event()) {
        let json = serde_json::to_string(&event).unwrap();
        prop_assert_eq!(serde_json::from_str::<Event>(&json).unwrap(), event);
    }
}
