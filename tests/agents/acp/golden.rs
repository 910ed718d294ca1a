//! Recorded talks with real agents, told again by a process, give the happenings that they gave
//! before. `UPDATE=1` writes down what they give now.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;
use throughline::domain::ids::{RequestId, SessionId};
use throughline::server::agents::acp::Acp;
use throughline::server::agents::agent::{Agent, AgentCommand, Happening, OpenRequest};
use throughline::server::agents::household::Household;
use throughline::server::agents::programs::Programs;
use throughline::server::blobs::Blobs;
use tokio::sync::{mpsc, watch};

use crate::fake_agent;
use crate::live_process::BINARY;

const PATIENCE: Duration = Duration::from_secs(20);

/// One conversation with the agent, and all that came of it.
struct Talk {
    session: String,
    commands: mpsc::Sender<AgentCommand>,
    seen: watch::Receiver<Vec<Happening>>,
    /// How many turns were begun and how many must have ended.
    begun: usize,
    ends: usize,
}

impl Talk {
    async fn open(acp: &Acp, folder: &Path, agent_session: Option<String>) -> Self {
        let session_id = SessionId::parse("golden").unwrap();
        let request = OpenRequest {
            agent_session,
            ..OpenRequest::new(session_id, folder.canonicalize().unwrap())
        };
        let mut handle = acp.open(request).await.unwrap();
        let (record, seen) = watch::channel(Vec::new());
        tokio::spawn(async move {
            while let Some(happening) = handle.happenings.recv().await {
                record.send_modify(|seen: &mut Vec<_>| seen.push(happening));
            }
        });
        let mut talk =
            Self { session: String::new(), commands: handle.commands, seen, begun: 0, ends: 0 };
        let named = |seen: &Vec<Happening>| {
            seen.iter().find_map(|happening| match happening {
                Happening::Session(name) => Some(name.clone()),
                _ => None,
            })
        };
        talk.until(|seen| named(seen).is_some()).await;
        talk.session = named(&talk.seen.borrow()).unwrap();
        talk
    }

    async fn until(&mut self, satisfied: impl Fn(&Vec<Happening>) -> bool) {
        let waited = tokio::time::timeout(PATIENCE, self.seen.wait_for(satisfied)).await;
        // A closed channel means that the agent died, which is for the expectation to judge.
        let _ = waited.expect("the agent should have said so by now");
    }

    async fn until_ended(&mut self, ends: usize) {
        self.until(|seen| {
            let ended =
                |it: &&Happening| matches!(it, Happening::Ended(_) | Happening::Crashed { .. });
            seen.iter().filter(ended).count() >= ends
        })
        .await;
    }

    async fn send(&self, command: AgentCommand) {
        self.commands.send(command).await.unwrap();
    }

    async fn prompt(&mut self, text: &str) {
        let (text, attachments) = (text.to_owned(), Vec::new());
        self.send(AgentCommand::Prompt { text, attachments }).await;
    }

    async fn answer(&mut self, option: &str) {
        self.until(|seen| questions(seen).count() > 0).await;
        let request_id = questions(&self.seen.borrow()).last().unwrap().clone();
        self.send(AgentCommand::Answer { request_id, option: option.to_owned() }).await;
    }
}

fn questions(seen: &[Happening]) -> impl Iterator<Item = &RequestId> {
    seen.iter().filter_map(|happening| match happening {
        Happening::Question(question) => Some(&question.request_id),
        _ => None,
    })
}

/// Does again what a recorded client did, and gives what came of it with the words that the agent
/// said in each session.
async fn replay(file: &Path) -> (Vec<Talk>, BTreeMap<String, String>) {
    let (data, folder) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let household = Household {
        keeper: PathBuf::from(BINARY),
        programs: Programs::default(),
        blobs: Blobs::open(data.path()).await.unwrap(),
        idle_after: PATIENCE,
    };
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

/// Writes a happening as one line that is the same each time.
fn line(happening: &Happening) -> String {
    match happening {
        Happening::Question(question) => {
            let mut question = question.clone();
            question.request_id = RequestId::parse("q").unwrap();
            format!("{:?}", Happening::Question(question))
        }
        Happening::Options(options) => {
            let options = options.iter();
            let options = options.map(|it| format!("{}={}/{}", it.id, it.value, it.choices.len()));
            format!("Options {}", options.collect::<Vec<_>>().join(" "))
        }
        Happening::Commands(commands) => {
            let names = commands.iter().map(|command| command.name.as_str());
            format!("Commands {}", names.collect::<Vec<_>>().join(" "))
        }
        happening => format!("{happening:?}"),
    }
}

/// Writes a conversation down: what the agent offered, then what happened. An option that is set
/// and a list that comes meanwhile have no order between them, the same offer may come twice, and
/// how much was used is told by a reply and an update of which the later may come after the end.
fn told(seen: &[Happening]) -> String {
    let offers = |it: &&Happening| matches!(it, Happening::Options(_));
    let lists = |it: &&Happening| matches!(it, Happening::Commands(_));
    let counts = |it: &&Happening| matches!(it, Happening::Usage(_));
    let rest = |it: &&Happening| !offers(it) && !lists(it) && !counts(it);
    let mut lines: Vec<_> = seen.iter().filter(offers).map(line).collect();
    lines.dedup();
    lines.extend(seen.iter().filter(lists).map(line));
    lines.extend(seen.iter().filter(rest).map(line));
    lines.push(format!("told what was used: {}", seen.iter().any(|it| counts(&it))));
    format!("--- a conversation\n{}\n", lines.join("\n"))
}

#[tokio::test]
async fn recorded_talks_give_what_they_gave() {
    let mut files: Vec<_> = std::fs::read_dir("tests/fixtures/acp")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    assert_eq!(files.len(), 24);
    let mut different = Vec::new();
    for file in files {
        let (talks, said) = replay(&file).await;
        let mut text = String::new();
        for talk in &talks {
            let seen = talk.seen.borrow();
            let words = |it: &Happening| match it {
                Happening::Text(words) => Some(words.clone()),
                _ => None,
            };
            let words: String = seen.iter().filter_map(words).collect();
            let said = said.get(&talk.session).map(String::as_str).unwrap_or_default();
            assert_eq!(words, said, "{}: every word is there", file.display());
            text.push_str(&told(&seen));
        }
        let expected = file.with_extension("happenings");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&expected, &text).unwrap();
        } else if std::fs::read_to_string(&expected).unwrap_or_default() != text {
            different.push(file);
        }
    }
    assert!(different.is_empty(), "{different:#?}\nUPDATE=1 writes down what they give now");
}
