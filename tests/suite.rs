//! The one test binary: pure rules first, then a real server on a port of its own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod agents {
    mod acp;
    mod common;
    mod demo;
    mod import;
    mod openai;
    mod pi;
    mod talk;
}

mod domain {
    mod growing;
    mod highlight;
    mod ids;
    mod lineage;
    mod list;
    mod live;
    mod markdown;
    mod replay;
    mod resolver;
    mod time;
    mod turn;
    mod window;
}

mod server {
    mod agents;
    mod assets;
    mod bad_input;
    mod committer;
    mod configuration;
    mod conversations;
    mod disk_full;
    mod earlier_version;
    mod events;
    mod export;
    mod folders;
    mod guard;
    mod idempotency;
    mod journal;
    mod journal_cli;
    mod kept_leaves;
    mod leaves;
    mod levels;
    mod locks;
    mod login;
    mod pages;
    mod process;
    mod question;
    mod queue;
    mod recovery;
    mod resolution;
    mod rpc;
    mod search;
    mod shutdown;
    mod sigkill;
    mod slow_reader;
    mod socket;
    mod store;
    mod store_faults;
    mod tools_beside_server;
    pub mod turn_crash;
    mod turn_fault;
    mod turn_race;
    mod turns;
    mod withdraw;
    mod writer;
}

mod wire {
    mod journal;
}

mod at_rest;
mod crash_storage;
mod database_faults;
mod fake_agent;
mod fake_model;
mod live_process;
mod plant;
mod test_app;
mod tidy;
