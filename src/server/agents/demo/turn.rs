//! Runs one prompt: directives in order, or a friendly answer when there are none.

use std::future::pending;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::time::{Instant, sleep, sleep_until};

use super::conversation::{Conversation, Stop};
use super::directive::{self, Directive, Step};
use super::resume::Recall;
use super::{Job, phrase, picture, sample, script, tools};
use crate::domain::message::{Attachment, Choice, ChoiceTone, NoticeLevel, PlanEntry, PlanState};
use crate::server::agents::agent::Happening;

/// How many words' time passes before a failed attempt is tried again: a second at the usual pace.
const RETRY_AFTER: u32 = 40;

pub(super) async fn run(conversation: &mut Conversation, job: Job) -> Result<(), Stop> {
    let (text, attachments) = match job {
        Job::Compress => return conversation.compact().await,
        Job::Prompt { text, attachments } => (text, attachments),
    };
    conversation.ledger.begin(&text);
    let text = go_on(conversation, &text);
    let steps = directive::parse(text);
    if steps.iter().any(|step| !matches!(step.directive, Directive::Text(_))) {
        for step in steps {
            perform(conversation, step.directive).await?;
        }
        return Ok(());
    }
    if text.trim().eq_ignore_ascii_case("/help") {
        return conversation.say(&script::help()).await;
    }
    match phrase::understand(text) {
        Some(directives) => {
            for directive in directives {
                perform(conversation, directive).await?;
            }
            Ok(())
        }
        None => answer(conversation, text, &attachments).await,
    }
}

/// Takes in where a prompt goes on from, if it says so, and gives the prompt itself.
fn go_on<'a>(conversation: &mut Conversation, text: &'a str) -> &'a str {
    conversation.recall = Recall::default();
    let steps = directive::parse(text);
    let Some(Step { source, directive: Directive::Answered { passed, option } }) = steps.first()
    else {
        return text;
    };
    conversation.recall = Recall::new(*passed, option.clone());
    text.strip_prefix(source).unwrap_or(text)
}

async fn perform(conversation: &mut Conversation, directive: Directive) -> Result<(), Stop> {
    if conversation.recall.passes(&directive) {
        return Ok(());
    }
    match directive {
        Directive::Text(text) | Directive::Say(text) => conversation.say(&text).await,
        Directive::Think(text) => conversation.think(&text).await,
        Directive::Slow { words, apart } => {
            count(conversation, words, apart, |number| format!("word{number}")).await
        }
        Directive::Clock { words, apart } => {
            count(conversation, words, apart, |_| microseconds()).await
        }
        Directive::Tool(tool) => tools::call(conversation, tool).await,
        Directive::Ask { title, options } => ask(conversation, &title, options).await,
        Directive::Answered { .. } => Ok(()),
        Directive::Plan(steps) => plan(conversation, &steps).await,
        Directive::Usage(usage) => {
            conversation.ledger.pretend(usage);
            conversation.usage(usage).await
        }
        Directive::Notice(text) => conversation.notice(NoticeLevel::Info, text).await,
        Directive::Image => conversation.send(picture::gradient()).await,
        Directive::Table => conversation.say(sample::TABLE).await,
        Directive::Code(language) => conversation.say(&sample::code(&language)).await,
        Directive::Long(paragraphs) => {
            for number in 1..=paragraphs {
                conversation.say(&sample::paragraph(number)).await?;
            }
            Ok(())
        }
        Directive::Error(text) => Err(Stop::Failed(text)),
        Directive::Crash => Err(Stop::Left),
        Directive::Hang => pending().await,
        Directive::Retry(times) => retry(conversation, times).await,
        Directive::Compress => conversation.compact().await,
        Directive::Unclear { text, reason } => {
            conversation.say(&text).await?;
            conversation.notice(NoticeLevel::Warning, script::unclear(&text, &reason)).await
        }
    }
}

/// Says words on a fixed schedule, so that a late word does not delay those after it.
async fn count(
    conversation: &mut Conversation,
    words: u32,
    apart: Duration,
    word: impl Fn(u32) -> String,
) -> Result<(), Stop> {
    let mut due = Instant::now();
    for number in 1..=words {
        sleep_until(due).await;
        let space = if number == words { "" } else { " " };
        conversation.say_word(&format!("{}{space}", word(number))).await?;
        due += apart;
    }
    Ok(())
}

/// Reads the clock, in microseconds since 1970.
fn microseconds() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_micros().to_string()
}

/// Asks a question of which the options are what they say.
async fn ask(
    conversation: &mut Conversation,
    title: &str,
    options: Vec<String>,
) -> Result<(), Stop> {
    let options = options
        .into_iter()
        .map(|label| Choice { option: label.clone(), label, tone: ChoiceTone::Neutral })
        .collect();
    let choice = conversation.ask(title, "", options).await?;
    conversation.say(&format!("You chose **{}**.", choice.label)).await
}

async fn plan(conversation: &mut Conversation, steps: &[String]) -> Result<(), Stop> {
    conversation.send(plan_at(steps, 0, false)).await?;
    for (place, step) in steps.iter().enumerate() {
        conversation.send(plan_at(steps, place, true)).await?;
        conversation.say(&script::plan_step(place, steps.len(), step)).await?;
    }
    conversation.send(plan_at(steps, steps.len(), false)).await
}

/// Draws the plan with `done` steps done and, if work goes on, the next one active.
fn plan_at(steps: &[String], done: usize, active: bool) -> Happening {
    let state = |place: usize| match place {
        _ if place < done => PlanState::Done,
        _ if place == done && active => PlanState::Active,
        _ => PlanState::Pending,
    };
    let entry =
        |(place, text): (usize, &String)| PlanEntry { text: text.clone(), state: state(place) };
    Happening::Plan(steps.iter().enumerate().map(entry).collect())
}

async fn retry(conversation: &mut Conversation, times: u32) -> Result<(), Stop> {
    let wait = conversation.pace.saturating_mul(RETRY_AFTER);
    for attempt in 1..=times {
        let seconds = wait.as_secs_f64();
        let text = format!("Attempt {attempt} failed, trying again in {seconds} s");
        conversation.notice(NoticeLevel::Warning, text).await?;
        if !wait.is_zero() {
            sleep(wait).await;
        }
    }
    Ok(())
}

/// Answers a prompt without directives, with something of everything that a conversation shows.
async fn answer(
    conversation: &mut Conversation,
    prompt: &str,
    attachments: &[Attachment],
) -> Result<(), Stop> {
    conversation.think(&script::thinking(prompt)).await?;
    conversation.say(&script::greeting(prompt, attachments)).await?;
    let listing = tools::list(conversation, ".").await?;
    conversation.say(&script::findings(listing.as_ref())).await
}
