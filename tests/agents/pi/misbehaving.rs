//! A pi that does what it should not: plain words about what happened, a session that can be used
//! again, and others untouched.

use super::{answer_to, begin, start, stop, words};

async fn check(prompt: &str, state: &str, told: &str) {
    let app = start().await;
    let (id, bystander) = (app.new_session().await, app.new_session().await);
    assert_eq!(words(&app, &bystander, "t1", "say hello").await, "hello");
    let answer = answer_to(&app, &id, "t2", prompt).await;
    assert_eq!(answer["state"], state, "{prompt}: {answer}");
    assert!(answer.to_string().contains(told), "{prompt}: {answer}");
    assert_eq!(words(&app, &id, "t3", "say usable").await, "usable", "{prompt}");
    assert_eq!(words(&app, &bystander, "t4", "count").await, "prompt 2", "{prompt}");
}

#[tokio::test]
async fn noise_and_unknown_kinds_are_borne() {
    check("noise", "complete", "still here").await;
    check("unknown", "complete", "not shown here: telepathy").await;
    check("unknown", "complete", "not shown here: hologram_delta").await;
}

#[tokio::test]
async fn what_pi_cannot_do_is_told_in_its_words() {
    check("refuse", "failed", "No API key found").await;
    check("error", "failed", "the model is not there").await;
    check("nothing", "complete", "did nothing with it").await;
}

#[tokio::test]
async fn death_is_told_with_the_last_words() {
    check("die", "crashed", "boom: the disk is on fire").await;
    check("die", "crashed", "exit code 3").await;
    check("die-in-tool", "crashed", "signal 6").await;
}

#[tokio::test]
async fn a_huge_line_ends_the_process_and_not_the_conversation() {
    check("huge", "crashed", "more than 32 MB").await;
}

#[tokio::test]
async fn silence_can_be_stopped() {
    let app = start().await;
    let id = app.new_session().await;
    let (mut socket, _) = begin(&app, &id, "silence", "message_delta").await;
    assert_eq!(stop(&app, &mut socket, &id).await["state"], "cancelled");
    assert_eq!(words(&app, &id, "again", "say usable").await, "usable");
}
