//! The gate before the journal: one at a time for each turn, and no turn waits for another.

use futures::FutureExt;
use throughline::domain::ids::{MessageId, TurnId};
use throughline::server::turns::gate::{Gate, Half};

fn turn(number: usize) -> TurnId {
    TurnId::parse(&format!("t{number}")).unwrap()
}

#[tokio::test]
async fn no_turn_waits_for_another() {
    let gate = Gate::default();
    let mut inside = Vec::new();
    for number in 0..100 {
        inside.push(gate.enter(&turn(number)).now_or_never().expect("nobody is in the way"));
    }
    assert_eq!(gate.remembered(), 100);
    drop(inside);
    assert_eq!(gate.remembered(), 0);
}

#[tokio::test]
async fn the_same_turn_waits_and_finds_where_the_other_stopped() {
    let gate = Gate::default();
    let refused = Half::Refused(MessageId::parse("m1").unwrap());
    let mut first = gate.enter(&turn(1)).await;
    assert!(gate.enter(&turn(1)).now_or_never().is_none());
    first.remember(refused.clone());
    drop(first);
    let mut second = gate.enter(&turn(1)).now_or_never().expect("the first is through");
    assert_eq!(second.half(), Some(&refused));
    second.forget();
    drop(second);
    assert_eq!(gate.remembered(), 0);
}

#[tokio::test]
async fn one_who_gives_up_leaves_nothing_behind() {
    let (gate, turn) = (Gate::default(), turn(1));
    let first = gate.enter(&turn).await;
    let mut waiting = Box::pin(gate.enter(&turn));
    assert!((&mut waiting).now_or_never().is_none());
    drop(first);
    assert_eq!(gate.remembered(), 1, "somebody waits");
    drop(waiting);
    assert_eq!(gate.remembered(), 0);
}
