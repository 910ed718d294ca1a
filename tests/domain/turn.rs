use proptest::prelude::*;
use throughline::domain::turn::{IllegalTransition, Step, advance};

const STEPS: [Step; 5] = [
    Step::Submitted,
    Step::WorkerStarted,
    Step::AssistantStarted,
    Step::Completed,
    Step::Interrupted,
];

/// The arrows of the drawing, one by one.
const LEGAL: [(Option<Step>, Step); 7] = [
    (None, Step::Submitted),
    (Some(Step::Submitted), Step::WorkerStarted),
    (Some(Step::WorkerStarted), Step::AssistantStarted),
    (Some(Step::AssistantStarted), Step::Completed),
    (Some(Step::Submitted), Step::Interrupted),
    (Some(Step::WorkerStarted), Step::Interrupted),
    (Some(Step::AssistantStarted), Step::Interrupted),
];

/// Folds events as a reader of a journal does.
fn fold(events: &[Step]) -> (Option<Step>, Vec<Step>, Vec<IllegalTransition>) {
    let (mut state, mut legal, mut illegal) = (None, Vec::new(), Vec::new());
    for event in events {
        match advance(state, *event) {
            Ok(next) => {
                state = Some(next);
                legal.push(*event);
            }
            Err(transition) => illegal.push(transition),
        }
    }
    (state, legal, illegal)
}

/// Takes every event that an arrow allows, and nothing else.
fn greedy(events: &[Step]) -> Vec<Step> {
    let mut taken: Vec<Step> = Vec::new();
    for event in events {
        if LEGAL.contains(&(taken.last().copied(), *event)) {
            taken.push(*event);
        }
    }
    taken
}

#[test]
fn exactly_the_drawn_arrows_are_legal() {
    for state in STEPS.map(Some).into_iter().chain([None]) {
        for event in STEPS {
            let legal = LEGAL.contains(&(state, event));
            let expected = if legal { Ok(event) } else { Err(IllegalTransition { state, event }) };
            assert_eq!(advance(state, event), expected);
        }
    }
}

#[test]
fn words_on_the_wire_are_those_of_the_journal() {
    for step in STEPS {
        assert_eq!(serde_json::to_string(&step).unwrap(), format!("\"{step}\""));
    }
}

#[test]
fn an_illegal_step_is_told_in_words() {
    let never = advance(None, Step::Completed).unwrap_err();
    assert_eq!(never.to_string(), "completed came for a turn that was never submitted");
    let twice = advance(Some(Step::WorkerStarted), Step::Submitted).unwrap_err();
    assert_eq!(twice.to_string(), "submitted cannot follow worker_started");
}

proptest! {
    #[test]
    fn any_sequence_folds_to_its_greedy_legal_part(
        events in proptest::collection::vec(proptest::sample::select(&STEPS[..]), 0..24),
    ) {
        let (state, legal, illegal) = fold(&events);
        prop_assert_eq!(&legal, &greedy(&events));
        prop_assert_eq!(state, legal.last().copied());
        prop_assert_eq!(legal.len() + illegal.len(), events.len());
    }

    #[test]
    fn an_end_is_never_left(
        before in proptest::collection::vec(proptest::sample::select(&STEPS[..]), 0..24),
        after in proptest::collection::vec(proptest::sample::select(&STEPS[..]), 0..24),
    ) {
        let (state, ..) = fold(&before);
        prop_assume!(state.is_some_and(Step::is_terminal));
        let all: Vec<Step> = before.into_iter().chain(after).collect();
        prop_assert_eq!(fold(&all).0, state);
    }
}
