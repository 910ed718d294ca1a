//! What a person waits for while they look around: the list, a search, a long conversation.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde::Serialize;
use throughline::domain::ids::MessageId;
use throughline::domain::message::{Message, MessageState, Part, Role};
use throughline::domain::time::Timestamp;
use throughline::server::conversations::{list, open, search};
use throughline::server::store::ListView;

use crate::data::{COMMON, RARE};
use crate::measure::{Samples, ratio, resident_memory};
use crate::report::{Report, grouped};
use crate::scene::Scene;

const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

const ROUNDS: usize = 10;
const EACH: u32 = 20;

/// One store, and what looking around in it took.
struct Look {
    scene: Scene,
    size: String,
    times: Times,
    bytes: Bytes,
    saved: u64,
}

#[derive(Default)]
struct Times {
    page: Samples,
    rare: Samples,
    common: Samples,
    long: Samples,
    save: Samples,
    page_after_save: Samples,
}

/// How large the answers are.
#[derive(Default)]
struct Bytes {
    page: usize,
    rare: usize,
    common: usize,
    long: usize,
}

/// Looks around in stores of three sizes, in turns.
pub async fn run(report: &mut Report, most_messages: usize) -> Result<()> {
    report.begin("list", "looking around, each answer as JSON");
    let mut looks = Vec::new();
    for sessions in SIZES {
        looks.push(Look::at(sessions, most_messages / SIZES[2] * sessions).await?);
    }
    let opened = resident_memory()?;
    for round in 0..=ROUNDS {
        for look in &mut looks {
            if round == 1 {
                // The first round only warms up.
                look.times = Times::default();
            }
            look.round().await?;
        }
    }
    for look in &looks {
        look.show(report);
    }
    report.note(&format!(
        "memory (VmRSS): {} MB with three stores open, {} MB after all of this",
        opened >> 20,
        resident_memory()? >> 20
    ));
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
        Ok(Self {
            scene: Scene::open(sessions, messages).await?,
            size: format!("{} / {}", grouped(sessions), grouped(messages)),
            times: Times::default(),
            bytes: Bytes::default(),
            saved: 0,
        })
    }

    async fn round(&mut self) -> Result<()> {
        let Self { scene, times, bytes, .. } = self;
        let services = scene.services();
        let long = &scene.filled.long;
        let page = async || {
            let page = list(services, ListView::Visible, None, None).await?;
            ensure!(page.sessions.len() == 50, "the page has {} rows", page.sessions.len());
            size_of(&page)
        };
        let page_once = async || {
            bytes.page = page().await?;
            Ok(())
        };
        times.page.block(EACH, page_once).await?;
        let search_rare = async || {
            let hits = search(services, RARE).await?;
            ensure!((1..=3).contains(&hits.len()), "{} hits for the rare word", hits.len());
            bytes.rare = size_of(&hits)?;
            Ok(())
        };
        times.rare.block(EACH, search_rare).await?;
        let search_common = async || {
            let hits = search(services, COMMON).await?;
            ensure!(!hits.is_empty(), "no hit for the common word");
            bytes.common = size_of(&hits)?;
            Ok(())
        };
        times.common.block(EACH, search_common).await?;
        let open_long = async || {
            let transcript = open(services, long, None, None).await?;
            ensure!(transcript.messages.len() == 50 && transcript.has_earlier, "a short page");
            bytes.long = size_of(&transcript)?;
            Ok(())
        };
        times.long.block(EACH, open_long).await?;
        for _ in 0..EACH {
            let message = said(self.saved)?;
            self.saved += 1;
            let save = async || Ok(services.store.save_message(long, &message).await?);
            times.save.block(1, save).await?;
            times.page_after_save.block(1, async || page().await.map(drop)).await?;
        }
        Ok(())
    }

    fn show(&self, report: &mut Report) {
        let Self { times, bytes, size, .. } = self;
        let note = |bytes: usize| format!("{} bytes", grouped(bytes));
        report.measured("page of 50", size, &times.page, &note(bytes.page));
        report.measured("search, rare word", size, &times.rare, &note(bytes.rare));
        report.measured("search, common word", size, &times.common, &note(bytes.common));
        report.measured("newest page of a long one", size, &times.long, &note(bytes.long));
        report.measured("save a message", size, &times.save, "");
        report.measured("page of 50 after a save", size, &times.page_after_save, "");
    }

    fn hold_to_promises(&self, report: &mut Report, small: &Self) {
        let Times { page, rare, common, .. } = &self.times;
        let growth = ratio(page.cpu(), small.times.page.cpu());
        report.ratio_at_most("CPU of a page at 100,000 : at 1,000", growth, 1.5);
        report.at_most("CPU of a page at 100,000", page.cpu(), Duration::from_millis(5));
        let most = Duration::from_millis(30);
        report.at_most("CPU of a search for a rare word", rare.cpu(), most);
        report.at_most("CPU of a search for a common word", common.cpu(), most);
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
