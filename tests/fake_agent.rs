//! Agents that misbehave on request: this very test program, started again.
//!
//! What libtest prints before it is noise on the agent's output, which a client has to bear.

mod part;
mod pi;
pub mod pi_replay;
mod replay;

use std::collections::BTreeMap;
use std::path::Path;

use throughline::server::agents::acp::AcpSettings;
use throughline::server::agents::pi::PiSettings;
use throughline::server::config::{AgentEntry, AgentKind};

/// Says which part is to be played; without it this is an ordinary test program.
const PART: &str = "THROUGHLINE_FAKE_AGENT";

#[test]
fn plays_its_part_when_asked() {
    match std::env::var(PART).ok().as_deref() {
        None => {}
        Some("script") => part::play(),
        Some("pi") => pi::play(),
        Some(part) => match part.split_once('#') {
            Some((file, process)) => pi_replay::play(Path::new(file), process.parse().unwrap()),
            None => replay::play(Path::new(part)),
        },
    }
}

/// Gives the agent that does what its prompts say.
pub fn settings() -> AcpSettings {
    started_as("script")
}

/// Gives an agent that says what another one was recorded to say.
pub fn replaying(file: &Path) -> AcpSettings {
    started_as(file.canonicalize().unwrap().to_str().unwrap())
}

pub fn entry(settings: AcpSettings) -> AgentEntry {
    AgentEntry { id: settings.id.clone(), kind: AgentKind::Acp(settings), folder: None }
}

/// Gives the same agent under a shell that is told not to be stopped by a request.
pub fn stubborn() -> AcpSettings {
    let settings = settings();
    let mut arguments =
        vec!["-c".to_owned(), "trap '' TERM; exec \"$@\"".to_owned(), "sh".to_owned()];
    arguments.push(settings.command);
    arguments.extend(settings.arguments);
    let mut environment = settings.environment;
    environment.insert(part::STAYS.to_owned(), "1".to_owned());
    AcpSettings { command: "/bin/sh".to_owned(), arguments, environment, ..settings }
}

fn started_as(part: &str) -> AcpSettings {
    let program = std::env::current_exe().unwrap();
    let arguments = ["fake_agent::plays_its_part_when_asked", "--exact", "--nocapture"];
    AcpSettings {
        id: "fake".to_owned(),
        name: "Fake".to_owned(),
        description: "Misbehaves on request.".to_owned(),
        command: program.to_str().unwrap().to_owned(),
        arguments: arguments.map(str::to_owned).to_vec(),
        environment: BTreeMap::from([(PART.to_owned(), part.to_owned())]),
        compress_command: "/compact".to_owned(),
        install: String::new(),
    }
}

/// Gives a pi that does what its prompts say.
pub fn pi() -> PiSettings {
    pi_started_as("pi")
}

/// Gives a pi that says what a real one was recorded to say in one of its processes.
pub fn pi_replaying(file: &Path, process: usize) -> PiSettings {
    pi_started_as(&format!("{}#{process}", file.canonicalize().unwrap().display()))
}

pub fn pi_entry(settings: PiSettings) -> AgentEntry {
    AgentEntry { id: settings.id.clone(), kind: AgentKind::Pi(settings), folder: None }
}

fn pi_started_as(part: &str) -> PiSettings {
    let AcpSettings { command, mut arguments, environment, .. } = started_as(part);
    // What follows is pi's own, and no option of the test program.
    arguments.push("--".to_owned());
    PiSettings {
        id: "pi".to_owned(),
        name: "pi".to_owned(),
        description: String::new(),
        command,
        arguments,
        environment,
        install: String::new(),
    }
}
