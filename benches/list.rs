//! What a person waits for while they look around: the list, a search, a long conversation.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde::Serialize;
use throughline::domain::ids::{MessageId, SessionId};
use throughline::domain::message::{Message, MessageState, Part, Role};
use throughline::domain::time::Timestamp;
use throughline::server::conversations::{open, search};
use throughline::server::lists::{list, overview, trees};
use throughline::server::state::Services;
use throughline::wire::list::{ListQuery, ListView, TreeQuery};

use crate::data::{COMMON, RARE};
use crate::measure::{Samples, ratio, resident_memory};
use crate::report::{Report, grouped};
use crate::scene::Scene;

pub const MOST_SESSIONS: usize = 100_000;

const SIZES: [usize; 3] = [1_000, 10_000, MOST_SESSIONS];

const ROUNDS: usize = 10;

/// How often each look is taken in a round: in blocks, whose work is measured together.
const BLOCKS: usize = 4;
const EACH: u32 = 5;

/// What a person does, and what it is called.
#[derive(Clone, Copy, PartialEq)]
enum Looking {
    Page(ListView),
    Overview,
    Tree,
    Search(&'static str),
    Open,
}

/// Words as they are typed: rare and common ones, unfinished ones, several, and one of all titles.
const LOOKS: [(Looking, &str); 12] = [
    (Looking::Page(ListView::Visible), "list page of 50"),
    (Looking::Page(ListView::Leaves), "leaves page of 50"),
    (Looking::Overview, "list as the app opens it"),
    (Looking::Tree, "tree of a chain of 12"),
    (Looking::Search(RARE), "search, rare word"),
    (Looking::Search(COMMON), "search, common word"),
    (Looking::Search("r"), "search, one letter"),
    (Looking::Search("rive"), "search, unfinished word"),
    (Looking::Search("river babababa"), "search, two common words"),
    (Looking::Search("ocelot ri"), "search, rare and unfinished"),
    (Looking::Search("conversation"), "search, word of every title"),
    (Looking::Open, "open one of 4,000 messages"),
];

/// One store, and what looking around in it took.
struct Look {
    scene: Scene,
    size: String,
    memory: u64,
    looks: Vec<Samples>,
    bytes: Vec<usize>,
    save: Samples,
    list_after_save: Samples,
    saved: u64,
}

/// Looks around in stores of three sizes, in turns.
pub async fn run(report: &mut Report, most_messages: usize) -> Result<()> {
    report.begin("list", "looking around among sessions / messages, each answer as JSON");
    let mut looks = Vec::new();
    for sessions in SIZES {
        looks.push(Look::at(sessions, most_messages / SIZES[2] * sessions).await?);
    }
    for round in 0..=ROUNDS {
        for look in &mut looks {
            if round == 1 {
                // The first round only warms up.
                look.forget();
            }
            look.round().await?;
        }
    }
    for look in &looks {
        look.show(report);
    }
    let memory = resident_memory()? >> 20;
    report.note(&format!("memory (VmRSS) after all of this: {memory} MB, three stores open"));
    if let [small, _, large] = &looks[..] {
        large.hold_to_promises(report, small);
    }
    for look in looks {
        look.scene.close().await;
    }
    Ok(())
}

impl Look {
    async fn at(sessions: usize, messages: usize) -> Result<Self> {
        let scene = Scene::open(sessions, messages).await?;
        let mut look = Self {
            scene,
            size: format!("{} / {}", grouped(sessions), grouped(messages)),
            memory: resident_memory()? >> 20,
            looks: Vec::new(),
            bytes: vec![0; LOOKS.len()],
            save: Samples::default(),
            list_after_save: Samples::default(),
            saved: 0,
        };
        look.forget();
        Ok(look)
    }

    fn forget(&mut self) {
        self.looks = LOOKS.iter().map(|_| Samples::default()).collect();
        (self.save, self.list_after_save) = Default::default();
    }

    async fn round(&mut self) -> Result<()> {
        let services = self.scene.services();
        let (long, tip) = (&self.scene.filled.long, &self.scene.filled.first);
        for (place, (looking, _)) in LOOKS.iter().enumerate() {
            for _ in 0..BLOCKS {
                let bytes = &mut self.bytes[place];
                let once = async || {
                    *bytes = looking.answer(services, long, tip).await?;
                    Ok(())
                };
                self.looks[place].block(EACH, once).await?;
            }
        }
        for _ in 0..EACH {
            let message = said(self.saved)?;
            self.saved += 1;
            let save = async || Ok(services.store.save_message(long, &message).await?);
            self.save.block(1, save).await?;
            let again = async || {
                let page = Looking::Page(ListView::Leaves);
                page.answer(services, long, tip).await.map(drop)
            };
            self.list_after_save.block(1, again).await?;
        }
        Ok(())
    }

    fn show(&self, report: &mut Report) {
        for (place, (_, name)) in LOOKS.iter().enumerate() {
            let note = format!("{} bytes", grouped(self.bytes[place]));
            report.measured(name, &self.size, &self.looks[place], &note);
        }
        report.measured("save a message", &self.size, &self.save, "");
        report.measured("leaves again after a save", &self.size, &self.list_after_save, "");
        report.note(&format!("memory (VmRSS) with {} open: {} MB", self.size, self.memory));
    }

    fn hold_to_promises(&self, report: &mut Report, small: &Self) {
        for (place, (looking, name)) in LOOKS.iter().enumerate() {
            let cpu = self.looks[place].cpu();
            let what = format!("CPU at 100,000: {name}");
            match looking {
                Looking::Page(_) => {
                    report.at_most(&what, cpu, Duration::from_millis(5));
                    let growth = ratio(cpu, small.looks[place].cpu());
                    let what = format!("CPU at 100,000 : at 1,000, {name}");
                    report.ratio_at_most(&what, growth, 1.5);
                }
                Looking::Search(_) => report.at_most(&what, cpu, Duration::from_millis(30)),
                Looking::Overview => report.at_most(&what, cpu, Duration::from_millis(5)),
                Looking::Tree | Looking::Open => {}
            }
        }
    }
}

impl Looking {
    /// Gets the answer and gives its size in bytes.
    async fn answer(
        self,
        services: &Services,
        long: &SessionId,
        first: &SessionId,
    ) -> Result<usize> {
        match self {
            Self::Page(view) => {
                let page = list(services, &ListQuery { view, ..ListQuery::default() }).await?;
                ensure!(page.sessions.len() == 50, "the page has {} rows", page.sessions.len());
                size_of(&page)
            }
            Self::Overview => size_of(&overview(services, ListView::Leaves).await?),
            Self::Tree => {
                let root_id = Some(first.clone());
                let tree = trees(services, &TreeQuery { root_id, ..TreeQuery::default() }).await?;
                ensure!(tree.trees.len() == 1, "no tree");
                size_of(&tree)
            }
            Self::Search(words) => {
                let hits = search(services, words).await?;
                let expected = if words == RARE { 1..=3 } else { 1..=30 };
                ensure!(expected.contains(&hits.len()), "{} hits for {words}", hits.len());
                size_of(&hits)
            }
            Self::Open => {
                let transcript = open(services, long, None, None).await?;
                ensure!(transcript.messages.len() == 50 && transcript.has_earlier, "a short page");
                size_of(&transcript)
            }
        }
    }
}

fn size_of(answer: &impl Serialize) -> Result<usize> {
    Ok(serde_json::to_vec(answer)?.len())
}

fn said(number: u64) -> Result<Message> {
    let at = Timestamp::from_millis(1_798_761_600_000);
    Ok(Message {
        message_id: MessageId::parse(&format!("saved-{number:08}"))?,
        turn_id: None,
        role: Role::User,
        state: MessageState::Complete,
        parts: vec![Part::Text { text: format!("one more about the {COMMON}, number {number}") }],
        usage: None,
        created_at: at,
        ended_at: Some(at),
        recovered: false,
    })
}
