//! Who writes to the database first, and what becomes of its log.

use std::fs;
use std::pin::pin;

use futures::{FutureExt, poll};
use throughline::server::store::{NewPrompt, Store};

use crate::at_rest::{AtRest, prompt};

#[tokio::test]
async fn other_writes_let_a_prompt_go_first() {
    let rest = AtRest::new().await;
    let store = Store::open(rest.data.path()).await.unwrap();
    let precedence = store.expect_prompt();
    let mut other = pin!(store.mark_unread(&rest.session_id, true));
    assert!(poll!(&mut other).is_pending(), "a write went before a prompt that somebody waits for");
    let new = NewPrompt { session_id: rest.session_id.clone(), message: prompt("t1", "First.") };
    let (begin, stored) = store.prepare_prompt(new);
    begin();
    assert!(stored.await.unwrap().unwrap());
    drop(precedence);
    assert!(other.await.unwrap());
    store.close().await;
}

#[tokio::test]
async fn prompts_without_end_do_not_keep_others_from_writing() {
    let rest = AtRest::new().await;
    let store = Store::open(rest.data.path()).await.unwrap();
    let _always = store.expect_prompt();
    assert!(store.mark_unread(&rest.session_id, true).await.unwrap());
    store.close().await;
}

#[tokio::test]
async fn the_log_stays_short_while_it_is_written_to_without_a_pause() {
    const WRITES: u32 = 3000;
    /// Never folded, it would come to 400 MB.
    const LONGEST: u64 = 160 << 20;
    let rest = AtRest::new().await;
    let store = Store::open(rest.data.path()).await.unwrap();
    let log = rest.data.path().join("throughline.db-wal");
    let mut longest = 0;
    for number in 0..WRITES {
        let message = prompt(&format!("t{number}"), &format!("{number} ").repeat(2000));
        store.save_message(&rest.session_id, &message).await.unwrap();
        longest = longest.max(fs::metadata(&log).unwrap().len());
    }
    assert!(longest < LONGEST, "the log grew to {longest} bytes");
    store.close().await;
    assert!(!log.exists(), "the log was not folded into the database");
}

#[tokio::test]
async fn all_who_let_prompts_pass_go_on_when_the_last_has_passed() {
    let rest = AtRest::new().await;
    let store = Store::open(rest.data.path()).await.unwrap();
    let (first, last) = (store.expect_prompt(), store.expect_prompt());
    let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(store.let_prompts_pass())).collect();
    tokio::time::pause();
    assert!(waiting.iter_mut().all(|it| it.now_or_never().is_none()));
    drop(first);
    assert!(waiting.iter_mut().all(|it| it.now_or_never().is_none()));
    drop(last);
    assert!(waiting.iter_mut().all(|it| it.now_or_never().is_some()));
}
