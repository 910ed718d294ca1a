//! Recorded talks, told again: one conversation with an agent, and how it is written down.

use std::path::{Path, PathBuf};
use std::time::Duration;

use throughline::domain::ids::{RequestId, SessionId};
use throughline::server::agents::agent::{Agent, AgentCommand, Happening, OpenRequest};
use throughline::server::agents::household::Household;
use throughline::server::agents::programs::Programs;
use throughline::server::blobs::Blobs;
use tokio::sync::{mpsc, watch};

use crate::live_process::BINARY;

pub const PATIENCE: Duration = Duration::from_secs(20);

/// Gives what agents' processes need, with a folder for files.
pub async fn household(data: &Path) -> Household {
    Household {
        keeper: PathBuf::from(BINARY),
        programs: Programs::default(),
        blobs: Blobs::open(data).await.unwrap(),
        idle_after: PATIENCE,
    }
}

/// One conversation with the agent, and all that came of it.
pub struct Talk {
    pub session: String,
    commands: mpsc::Sender<AgentCommand>,
    pub seen: watch::Receiver<Vec<Happening>>,
    /// How many turns were begun and how many must have ended.
    pub begun: usize,
    pub ends: usize,
    answered: usize,
}

impl Talk {
    pub async fn open(agent: &dyn Agent, folder: &Path, agent_session: Option<String>) -> Self {
        let session_id = SessionId::parse("golden").unwrap();
        let request = OpenRequest {
            agent_session,
            ..OpenRequest::new(session_id, folder.canonicalize().unwrap())
        };
        let mut handle = agent.open(request).await.unwrap();
        let (record, seen) = watch::channel(Vec::new());
        tokio::spawn(async move {
            while let Some(happening) = handle.happenings.recv().await {
                record.send_modify(|seen: &mut Vec<_>| seen.push(happening));
            }
        });
        let mut talk = Self {
            session: String::new(),
            commands: handle.commands,
            seen,
            begun: 0,
            ends: 0,
            answered: 0,
        };
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

    pub async fn until(&mut self, satisfied: impl Fn(&Vec<Happening>) -> bool) {
        let waited = tokio::time::timeout(PATIENCE, self.seen.wait_for(satisfied)).await;
        // A closed channel means that the agent died, which is for the expectation to judge.
        let _ = waited.expect("the agent should have said so by now");
    }

    pub async fn until_ended(&mut self, ends: usize) {
        self.until(|seen| {
            let ended =
                |it: &&Happening| matches!(it, Happening::Ended(_) | Happening::Crashed { .. });
            seen.iter().filter(ended).count() >= ends
        })
        .await;
    }

    pub async fn send(&self, command: AgentCommand) {
        self.commands.send(command).await.unwrap();
    }

    pub async fn prompt(&mut self, text: &str) {
        let (text, attachments) = (text.to_owned(), Vec::new());
        self.send(AgentCommand::Prompt { text, attachments }).await;
    }

    pub async fn answer(&mut self, option: &str) {
        let answered = self.answered;
        self.until(|seen| questions(seen).count() > answered).await;
        let request_id = questions(&self.seen.borrow()).nth(answered).unwrap().clone();
        self.answered += 1;
        self.send(AgentCommand::Answer { request_id, option: option.to_owned() }).await;
    }
}

fn questions(seen: &[Happening]) -> impl Iterator<Item = &RequestId> {
    seen.iter().filter_map(|happening| match happening {
        Happening::Question(question) => Some(&question.request_id),
        _ => None,
    })
}

/// Lists the recorded talks of a folder.
pub fn records(folder: &str) -> Vec<PathBuf> {
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    files
}

/// Tells whether a talk gave what is written down beside its record; `UPDATE=1` writes it down.
pub fn is_as_before(record: &Path, extension: &str, told: &str) -> bool {
    let expected = record.with_extension(extension);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&expected, told).unwrap();
    }
    std::fs::read_to_string(&expected).unwrap_or_default() == told
}

/// Joins the words that were said in a conversation.
pub fn words_of(seen: &[Happening]) -> String {
    let words = |it: &Happening| match it {
        Happening::Text(words) => Some(words.clone()),
        _ => None,
    };
    seen.iter().filter_map(words).collect()
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
pub fn told(seen: &[Happening]) -> String {
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
