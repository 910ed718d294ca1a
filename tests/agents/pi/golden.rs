//! Recorded talks with the real pi, told again by a process, give the happenings that they gave
//! before. `UPDATE=1` writes down what they give now.

use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;
use throughline::server::agents::agent::{AgentCommand, Happening};
use throughline::server::agents::pi::Pi;

use crate::agents::talk::{Talk, household, is_as_before, records, told, words_of};
use crate::fake_agent;
use crate::fake_agent::pi_replay::{self, Recorded};

/// Does again what a recorded client did with one process, and gives what came of it.
async fn replay(file: &Path, process: usize) -> Vec<Happening> {
    let (data, folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let pi = Pi::new(fake_agent::pi_replaying(file, process), &household(data.path()).await);
    let resumed = Path::new("tests/fixtures/pi/resumed.session").canonicalize().unwrap();
    let known = (process > 0).then(|| resumed.to_str().unwrap().to_owned());
    let mut talk = Talk::open(&pi, folder.path(), known).await;
    for Recorded { message, .. } in pi_replay::read(file, process).iter().filter(|it| it.made) {
        let of = |key: &str| message[key].as_str().unwrap_or_default().to_owned();
        let kind = message["type"].as_str().unwrap();
        if !matches!(kind, "abort" | "extension_ui_response") {
            talk.until_ended(talk.begun).await;
        }
        match kind {
            "prompt" => {
                talk.begun += 1;
                talk.prompt(&of("message")).await;
            }
            "compact" => {
                talk.begun += 1;
                talk.send(AgentCommand::Compress).await;
            }
            "abort" => talk.send(AgentCommand::Cancel).await,
            "set_model" => {
                let value = format!("{}/{}", of("provider"), of("modelId"));
                talk.send(AgentCommand::SetOption { name: "model".to_owned(), value }).await;
            }
            "set_thinking_level" => {
                let (name, value) = ("thinking".to_owned(), of("level"));
                talk.send(AgentCommand::SetOption { name, value }).await;
            }
            _ => talk.answer(&option_of(message)).await,
        }
    }
    talk.until_ended(talk.begun).await;
    talk.seen.borrow().clone()
}

/// Finds the option of ours that is nearest to what was answered.
fn option_of(response: &Value) -> String {
    let option = match (response["confirmed"].as_bool(), response["value"].as_str()) {
        (Some(true), _) => "yes",
        (_, Some("blue")) => "blue",
        (_, Some(_)) => "keep",
        _ => "no",
    };
    option.to_owned()
}

/// Joins what the recorded pi said in a process, from its pieces.
fn said_in(file: &Path, process: usize) -> String {
    let record = pi_replay::read(file, process);
    let pieces = record.iter().filter_map(|it| {
        let update = &it.message["assistantMessageEvent"];
        update["delta"].as_str().filter(|_| update["type"] == "text_delta")
    });
    pieces.collect()
}

#[tokio::test]
async fn recorded_talks_give_what_they_gave() {
    let files = records("tests/fixtures/pi");
    assert_eq!(files.len(), 30);
    let here = std::env::current_dir().unwrap();
    let mut different = Vec::new();
    for file in files {
        let mut text = String::new();
        for process in 0..pi_replay::processes(&file) {
            let seen = replay(&file, process).await;
            let dense = |text: String| text.split_whitespace().collect::<String>();
            let (shown, said) = (dense(words_of(&seen)), dense(said_in(&file, process)));
            assert_eq!(shown, said, "{}: every word is there", file.display());
            text.push_str(&told(&seen).replace(here.to_str().unwrap(), "…"));
        }
        if !is_as_before(&file, "happenings", &text) {
            different.push(file);
        }
    }
    assert!(different.is_empty(), "{different:#?}\nUPDATE=1 writes down what they give now");
}
