//! Recorded talks with real agents, told again by a process, give the happenings that they gave
//! before. `UPDATE=1` writes down what they give now.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use throughline::server::agents::acp::Acp;
use throughline::server::agents::agent::{AgentCommand, Happening};

use crate::agents::talk::{Talk, household, is_as_before, records, told, words_of};
use crate::fake_agent;

/// Does again what a recorded client did, and gives what came of it with the words that the agent
/// said in each session.
async fn replay(file: &Path) -> (Vec<Talk>, BTreeMap<String, String>) {
    let (data, folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let household = household(data.path()).await;
    let acp = Acp::new(fake_agent::replaying(file), &household);
    let text = std::fs::read_to_string(file).unwrap();
    let record: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut talks, mut said): (Vec<Talk>, BTreeMap<_, String>) = Default::default();
    // What the agent says after a call that is not made here is not said.
    let mut listening = true;
    let mut prompts = BTreeMap::new();
    for entry in &record {
        let message = &entry["msg"];
        let session = message["params"]["sessionId"].as_str().unwrap_or_default();
        if entry["dir"] != "client->agent" {
            let update = &message["params"]["update"];
            let words = update["content"]["text"].as_str();
            if let Some(words) = words.filter(|_| listening)
                && update["sessionUpdate"] == "agent_message_chunk"
            {
                said.entry(session.to_owned()).or_default().push_str(words);
            }
            if let Some(place) = prompts.remove(&message["id"].to_string()) {
                let talk: &mut Talk = &mut talks[place];
                talk.ends = talk.begun.min(talk.ends + 1);
            }
            continue;
        }
        let place = talks.iter().position(|talk| talk.session == session);
        for talk in &mut talks {
            talk.until_ended(talk.ends).await;
        }
        let method = message["method"].as_str();
        listening = true;
        match (method, place) {
            (Some("session/new" | "session/fork"), _) => {
                talks.push(Talk::open(&acp, folder.path(), None).await);
            }
            (Some("session/resume" | "session/load"), None) => {
                talks.push(Talk::open(&acp, folder.path(), Some(session.to_owned())).await);
                listening = method == Some("session/resume");
            }
            (Some("session/prompt"), Some(place)) => {
                let talk = &mut talks[place];
                // Throughline itself never sends a second prompt into a turn; recorded ones do.
                talk.begun += usize::from(talk.begun == talk.ends);
                prompts.insert(message["id"].to_string(), place);
                talk.prompt(message["params"]["prompt"][0]["text"].as_str().unwrap()).await;
            }
            (Some("session/cancel"), Some(place)) => talks[place].send(AgentCommand::Cancel).await,
            (Some("session/set_mode"), Some(place)) => {
                let value = message["params"]["modeId"].as_str().unwrap().to_owned();
                let name = "mode".to_owned();
                talks[place].send(AgentCommand::SetOption { name, value }).await;
            }
            (None, _) if message["result"]["outcome"].is_object() => {
                let option = message["result"]["outcome"]["optionId"].as_str().unwrap();
                let asked = |talk: &&mut Talk| talk.begun > talk.ends;
                talks.iter_mut().find(asked).unwrap().answer(option).await;
            }
            _ => listening = matches!(method, Some("initialize") | None),
        }
    }
    for talk in &mut talks {
        talk.until_ended(talk.begun).await;
        let crashed = |it: &Happening| matches!(it, Happening::Crashed { .. });
        if !talk.seen.borrow().iter().any(crashed) {
            // Its end comes behind whatever was still on its way.
            talk.prompt("the end").await;
            talk.until_ended(talk.begun + 1).await;
        }
    }
    (talks, said)
}

#[tokio::test]
async fn recorded_talks_give_what_they_gave() {
    let files = records("tests/fixtures/acp");
    assert_eq!(files.len(), 24);
    let mut different = Vec::new();
    for file in files {
        let (talks, said) = replay(&file).await;
        let mut text = String::new();
        for talk in &talks {
            let seen = talk.seen.borrow();
            let said = said.get(&talk.session).map(String::as_str).unwrap_or_default();
            assert_eq!(words_of(&seen), said, "{}: every word is there", file.display());
            text.push_str(&told(&seen));
        }
        if !is_as_before(&file, "happenings", &text) {
            different.push(file);
        }
    }
    assert!(different.is_empty(), "{different:#?}\nUPDATE=1 writes down what they give now");
}
