//! What becomes of the database's log, and of a database that fails.

use std::fs;

use throughline::server::store::Store;

use crate::at_rest::{AtRest, prompt};

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
