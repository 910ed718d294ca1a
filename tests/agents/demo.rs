//! The demo agent, driven through its handle as a session drives it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs;
use std::path::Path;
use std::time::Duration;

use proptest::prelude::*;
use tempfile::TempDir;
use throughline::domain::ids::{BlobId, RequestId, SessionId};
use throughline::domain::message::{
    Attachment, NoticeLevel, PlanState, Question, ToolOutput, ToolState, Usage,
};
use throughline::server::agents::agent::{
    Agent, AgentCommand, AgentHandle, Ending, HAPPENINGS_AHEAD, Happening, OpenRequest,
};
use throughline::server::agents::demo::Demo;
use throughline::server::agents::demo::directive::{Directive, Tool, parse};
use throughline::server::agents::demo::form::FORMS;
use tokio::sync::mpsc::Receiver;
use tokio::time::{Instant, timeout};

const PATIENCE: Duration = Duration::from_secs(20);

struct Talk {
    handle: AgentHandle,
    folder: TempDir,
}

impl Talk {
    async fn open() -> Self {
        Self::open_with(Demo::new(Duration::ZERO)).await
    }

    async fn open_with(demo: Demo) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("notes.txt"), "one apple\ntwo pears\nthree plums\n").unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("src/main.rs"), "fn main() {}\n").unwrap();
        let handle = open_handle(&demo, folder.path()).await;
        Self { handle, folder }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    async fn send(&self, command: AgentCommand) {
        self.handle.commands.send(command).await.unwrap();
    }

    async fn prompt(&self, text: &str) {
        self.send(AgentCommand::Prompt { text: text.to_owned(), attachments: Vec::new() }).await;
    }

    async fn answer(&self, request_id: &RequestId, option: &str) {
        let (request_id, option) = (request_id.clone(), option.to_owned());
        self.send(AgentCommand::Answer { request_id, option }).await;
    }

    async fn next(&mut self) -> Happening {
        next(&mut self.handle.happenings).await.expect("the agent is gone")
    }

    /// Reads on until a happening satisfies, that one included.
    async fn until(&mut self, satisfies: impl Fn(&Happening) -> bool) -> Vec<Happening> {
        let mut seen = Vec::new();
        loop {
            let happening = self.next().await;
            let last = satisfies(&happening);
            seen.push(happening);
            if last {
                return seen;
            }
        }
    }

    async fn question(&mut self) -> Question {
        let seen = self.until(|happening| matches!(happening, Happening::Question(_))).await;
        match seen.last() {
            Some(Happening::Question(question)) => question.clone(),
            _ => unreachable!(),
        }
    }

    async fn rest(&mut self) -> Vec<Happening> {
        self.until(|happening| matches!(happening, Happening::Ended(_))).await
    }

    /// Waits until the agent can say no more before somebody reads.
    async fn until_full(&self) {
        while self.handle.happenings.len() < HAPPENINGS_AHEAD {
            tokio::task::yield_now().await;
        }
    }

    /// Runs a prompt to its end.
    async fn turn(&mut self, text: &str) -> Vec<Happening> {
        self.prompt(text).await;
        self.rest().await
    }

    /// Runs a prompt that asks once, and takes an option.
    async fn turn_with(&mut self, text: &str, option: &str) -> Vec<Happening> {
        self.prompt(text).await;
        let question = self.question().await;
        self.answer(&question.request_id, option).await;
        self.rest().await
    }

    /// Cancels and checks that the turn ends so, at once, and that the agent still answers.
    async fn cancel(&mut self) -> Vec<Happening> {
        self.send(AgentCommand::Cancel).await;
        let asked = Instant::now();
        let seen = self.rest().await;
        assert!(asked.elapsed() < Duration::from_secs(2), "cancelling took {:?}", asked.elapsed());
        assert_eq!(seen.last(), Some(&Happening::Ended(Ending::Cancelled)));
        assert_eq!(said(&self.turn("[[say still here]]").await), "still here");
        seen
    }
}

async fn open_handle(demo: &Demo, folder: &Path) -> AgentHandle {
    let session_id = SessionId::parse("session-1").unwrap();
    demo.open(OpenRequest::new(session_id, folder.to_owned())).await.unwrap()
}

async fn next(happenings: &mut Receiver<Happening>) -> Option<Happening> {
    timeout(PATIENCE, happenings.recv()).await.expect("the agent says nothing")
}

/// Picks out one kind of happening.
fn pick<'a, T>(happenings: &'a [Happening], kind: impl Fn(&'a Happening) -> Option<T>) -> Vec<T> {
    happenings.iter().filter_map(kind).collect()
}

fn pieces(happenings: &[Happening]) -> Vec<&str> {
    pick(happenings, |happening| match happening {
        Happening::Text(text) => Some(text.as_str()),
        _ => None,
    })
}

fn said(happenings: &[Happening]) -> String {
    pieces(happenings).concat()
}

fn thought(happenings: &[Happening]) -> String {
    let thoughts = pick(happenings, |happening| match happening {
        Happening::Thinking(text) => Some(text.as_str()),
        _ => None,
    });
    thoughts.concat()
}

fn outputs(happenings: &[Happening]) -> Vec<&ToolOutput> {
    pick(happenings, |happening| match happening {
        Happening::ToolOutput { output, .. } => Some(output),
        _ => None,
    })
}

fn output(happenings: &[Happening]) -> String {
    let texts = outputs(happenings).into_iter().filter_map(|output| match output {
        ToolOutput::Text { text } => Some(text.as_str()),
        ToolOutput::Diff { .. } => None,
    });
    texts.collect()
}

fn tool_states(happenings: &[Happening]) -> Vec<ToolState> {
    pick(happenings, |happening| match happening {
        Happening::ToolEnded { state, .. } => Some(*state),
        _ => None,
    })
}

fn notices(happenings: &[Happening]) -> Vec<(NoticeLevel, &str)> {
    pick(happenings, |happening| match happening {
        Happening::Notice { level, text } => Some((*level, text.as_str())),
        _ => None,
    })
}

fn usages(happenings: &[Happening]) -> Vec<Usage> {
    pick(happenings, |happening| match happening {
        Happening::Usage(usage) => Some(*usage),
        _ => None,
    })
}

fn plans(happenings: &[Happening]) -> Vec<Vec<PlanState>> {
    pick(happenings, |happening| match happening {
        Happening::Plan(entries) => Some(entries.iter().map(|entry| entry.state).collect()),
        _ => None,
    })
}

fn summary(happenings: &[Happening]) -> &str {
    let summaries = pick(happenings, |happening| match happening {
        Happening::Compacted { summary } => Some(summary.as_str()),
        _ => None,
    });
    summaries[0]
}

fn completed(happenings: &[Happening]) -> bool {
    happenings.last() == Some(&Happening::Ended(Ending::Completed))
}

// Plain prompts

#[tokio::test]
async fn a_plain_prompt_gets_thinking_a_real_listing_and_varied_markdown() {
    let mut talk = Talk::open().await;
    let seen = talk.turn("What is\nin here?").await;
    assert!(thought(&seen).contains("What is in here?"));
    assert_eq!(output(&seen), "notes.txt  32 B\nsrc/\n");
    assert_eq!(tool_states(&seen), [ToolState::Done]);
    let answer = said(&seen);
    for expected in [
        "> What is\n> in here?",
        "| Files | 1 | 32 B |",
        "| Folders | 1 |",
        "```rust\n",
        "- [x] Look into the folder",
        "- [ ] ",
        "Type `/help`",
    ] {
        assert!(answer.contains(expected), "{expected:?} is not in {answer}");
    }
    assert!(matches!(seen[seen.len() - 2], Happening::Usage(_)));
    assert!(completed(&seen));
}

#[tokio::test]
async fn a_prompt_with_attachments_and_no_words_names_them() {
    let mut talk = Talk::open().await;
    let attachment = Attachment {
        blob: BlobId::parse("abc").unwrap(),
        name: "cat.png".to_owned(),
        media_type: "image/png".to_owned(),
        size: 2048,
    };
    let attachments = vec![attachment];
    talk.send(AgentCommand::Prompt { text: " ".to_owned(), attachments }).await;
    assert!(said(&talk.rest().await).contains("- cat.png (image/png, 2.0 KiB)"));
}

#[tokio::test]
async fn a_missing_folder_is_said_and_the_conversation_goes_on() {
    let mut talk = Talk::open().await;
    fs::remove_dir_all(talk.folder.path()).unwrap();
    let seen = talk.turn("Hello").await;
    assert_eq!(tool_states(&seen), [ToolState::Failed]);
    assert!(output(&seen).contains("cannot be opened"));
    assert!(completed(&seen));
}

#[tokio::test]
async fn help_and_the_manual_name_every_directive() {
    let mut talk = Talk::open().await;
    let help = said(&talk.turn(" /help ").await);
    let manual = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/demo-agent.md"));
    for form in FORMS {
        assert!(help.contains(&format!("`{}`", form.written)), "help lacks {}", form.written);
        let written = form.written.replace('|', "\\|");
        assert!(manual.contains(&format!("`{written}`")), "the manual lacks {}", form.written);
    }
}

#[tokio::test]
async fn plain_phrases_become_tools_and_plans() {
    let mut talk = Talk::open().await;
    for (prompt, expected) in [
        ("list files", "notes.txt  32 B\nsrc/\n"),
        ("Please list the files in src.", "main.rs  13 B\n"),
        ("read notes.txt", "one apple\ntwo pears\nthree plums\n"),
        ("Read the file `src/main.rs`", "fn main() {}\n"),
        ("search for pears", "notes.txt:2: two pears\n"),
    ] {
        let seen = talk.turn(prompt).await;
        assert_eq!(output(&seen), expected, "{prompt}");
        assert_eq!(tool_states(&seen), [ToolState::Done], "{prompt}");
    }
    let seen = talk.turn_with("run `echo hello`", "allow_once").await;
    assert_eq!(output(&seen), "hello\n");
    let seen = talk.turn("plan flour, water, oven").await;
    assert!(matches!(&seen[0], Happening::Plan(entries) if entries.len() == 3));
    for prompt in ["list three reasons", "read the room", "planning is hard", "run"] {
        assert!(said(&talk.turn(prompt).await).contains(&format!("> {prompt}")), "{prompt}");
    }
}

// Words

#[tokio::test]
async fn words_come_whole_with_the_white_space_after_them() {
    let mut talk = Talk::open().await;
    let seen = talk.turn("[[say a  b\n\tc]] d é[[SAY  e ]]").await;
    assert_eq!(pieces(&seen), ["a  ", "b\n\t", "c", " d ", "é", " e "]);
}

#[tokio::test]
async fn text_between_directives_is_said_and_blanks_join_words_only() {
    let mut talk = Talk::open().await;
    let seen = talk.turn("\n[[say one]] [[say two]]\n[[think hm]] [[say three]]\n").await;
    assert_eq!(pieces(&seen), ["one", " two", "three"]);
    assert_eq!(thought(&seen), "hm");
}

#[tokio::test(start_paused = true)]
async fn the_pace_is_the_time_after_each_word() {
    let mut talk = Talk::open_with(Demo::new(Duration::from_millis(25))).await;
    let start = Instant::now();
    assert_eq!(said(&talk.turn("[[say a b c d]]").await), "a b c d");
    assert_eq!(start.elapsed().as_millis(), 100);
}

#[tokio::test(start_paused = true)]
async fn slow_words_keep_their_schedule() {
    let mut talk = Talk::open().await;
    let start = Instant::now();
    talk.prompt("[[slow 4 250]]").await;
    for number in 1..=4 {
        let space = if number == 4 { "" } else { " " };
        assert_eq!(talk.next().await, Happening::Text(format!("word{number}{space}")));
        assert_eq!(start.elapsed().as_millis(), (number - 1) * 250);
    }
    assert!(completed(&talk.rest().await));
}

#[tokio::test]
async fn samples_show_what_they_name() {
    let mut talk = Talk::open().await;
    assert!(said(&talk.turn("[[table]]").await).starts_with("| Agent |"));
    assert!(said(&talk.turn("[[code python]]").await).starts_with("```python\nfrom"));
    assert!(said(&talk.turn("[[code Zig]]").await).starts_with("```zig\nto be"));
    let long = said(&talk.turn("[[long 24]]").await);
    for number in 1..=24 {
        assert!(long.contains(&format!("**{number}.**\n\n")), "paragraph {number}");
    }
    assert!(!long.contains("**25.**"));
}

#[tokio::test]
async fn an_image_is_a_valid_png() {
    let mut talk = Talk::open().await;
    let seen = talk.turn("[[image]]").await;
    let Happening::File { name, media_type, bytes } = &seen[0] else {
        panic!("no file in {seen:?}");
    };
    assert_eq!((name.as_str(), media_type.as_str()), ("gradient.png", "image/png"));
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    let header = [0, 0, 0, 160, 0, 0, 0, 96, 8, 2, 0, 0, 0];
    assert_eq!(
        bytes[8..33],
        [&[0, 0, 0, 13], &b"IHDR"[..], &header, &[0x15, 0x45, 0xEE, 0xCE]].concat()
    );
    assert!(bytes.ends_with(&[0, 0, 0, 0, b'I', b'E', b'N', b'D', 0xAE, 0x42, 0x60, 0x82]));

    let length = u32::from_be_bytes(bytes[33..37].try_into().unwrap()) as usize;
    assert_eq!(bytes.len(), 33 + 12 + length + 12);
    let stream = &bytes[41..41 + length];
    let rows = 96 * (1 + 3 * 160);
    assert_eq!(stream[..3], [0x78, 0x01, 1]);
    assert_eq!(stream[3..5], (rows as u16).to_le_bytes());
    assert_eq!(stream[5..7], (!(rows as u16)).to_le_bytes());
    let (pixels, sum) = stream[7..].split_at(rows);
    let first = pixels.iter().fold(1u64, |sum, byte| sum + u64::from(*byte));
    let weights = (1..=rows as u64).rev();
    let second = pixels.iter().zip(weights).map(|(byte, weight)| u64::from(*byte) * weight);
    let second = second.sum::<u64>() + rows as u64;
    assert_eq!(sum, ((((second % 65521) << 16) | (first % 65521)) as u32).to_be_bytes());
}

#[tokio::test]
async fn notices_retries_and_unclear_directives_are_told_in_order() {
    let mut talk = Talk::open().await;
    let seen = talk.turn("[[notice Mind the gap]][[retry 2]] on").await;
    assert_eq!(
        notices(&seen),
        [
            (NoticeLevel::Info, "Mind the gap"),
            (NoticeLevel::Warning, "Attempt 1 failed, trying again in 0 s"),
            (NoticeLevel::Warning, "Attempt 2 failed, trying again in 0 s"),
        ]
    );
    assert_eq!(said(&seen), " on");
}

#[tokio::test]
async fn what_is_no_directive_is_said_with_a_notice() {
    let mut talk = Talk::open().await;
    for (prompt, reason) in [
        ("a [[dance]] b", "no such directive"),
        ("a [[slow many]] b", "`[[slow N MS]]`"),
        ("a [[slow 1]] b", "`[[slow N MS]]`"),
        ("a [[hang on]] b", "`[[hang]]`"),
        ("a [[tool dig]] b", "no such directive"),
        ("a [[tool edit x | y]] b", "`[[tool edit"),
        ("a [[usage 1 2 3]] b", "`[[usage"),
        ("a [[retry 99]] b", "`[[retry N]]`"),
        ("a [[]] b", "no such directive"),
        ("a [[code a`b]] b", "`[[code LANG]]`"),
        ("a [[say b", "no closing brackets"),
        ("a [[crash] b", "no closing brackets"),
    ] {
        let seen = talk.turn(prompt).await;
        assert_eq!(said(&seen), prompt);
        let notices = notices(&seen);
        assert_eq!(notices.len(), 1, "{prompt}");
        assert!(notices[0].1.contains(reason), "{prompt}: {}", notices[0].1);
        assert!(completed(&seen), "{prompt}");
    }
}

// Asking, planning, numbers, memory

#[tokio::test]
async fn a_question_is_answered_confirmed_and_said_back() {
    let mut talk = Talk::open().await;
    talk.prompt("[[ask Which? | Tea | Green coffee]]").await;
    let question = talk.question().await;
    assert_eq!(question.title, "Which?");
    let options: Vec<&str> = question.options.iter().map(|option| option.label.as_str()).collect();
    assert_eq!(options, ["Tea", "Green coffee"]);
    talk.answer(&question.request_id, "Green coffee").await;
    let seen = talk.rest().await;
    let (request_id, option) = (question.request_id, "Green coffee".to_owned());
    assert_eq!(seen[0], Happening::Answered { request_id, option });
    assert_eq!(said(&seen), "You chose **Green coffee**.");
}

#[tokio::test]
async fn answers_to_other_questions_and_of_other_options_are_ignored() {
    let mut talk = Talk::open().await;
    talk.prompt("[[ask First?]][[ask Second?]]").await;
    let first = talk.question().await;
    talk.answer(&RequestId::parse("elsewhere").unwrap(), "Yes").await;
    talk.answer(&first.request_id, "Perhaps").await;
    talk.answer(&first.request_id, "Yes").await;
    let second = talk.question().await;
    talk.answer(&first.request_id, "No").await;
    talk.answer(&second.request_id, "No").await;
    let seen = talk.rest().await;
    assert_eq!(said(&seen), "You chose **No**.");
    talk.answer(&second.request_id, "Yes").await;
    assert_eq!(said(&talk.turn("[[say fine]]").await), "fine");
}

#[tokio::test]
async fn request_ids_differ_after_the_session_is_opened_anew() {
    let mut talk = Talk::open().await;
    talk.prompt("[[ask Go on?]]").await;
    let first = talk.question().await;
    talk.handle = open_handle(&Demo::new(Duration::ZERO), talk.folder.path()).await;
    talk.prompt("[[ask Go on?]]").await;
    assert_ne!(first.request_id, talk.question().await.request_id);
}

#[tokio::test]
async fn a_plan_goes_from_pending_over_active_to_done() {
    use PlanState::{Active, Done, Pending};
    let mut talk = Talk::open().await;
    let seen = talk.turn("[[plan Look | Leap]]").await;
    assert_eq!(plans(&seen), [[Pending, Pending], [Active, Pending], [Done, Active], [Done, Done]]);
    assert_eq!(said(&seen), "Step 1 of 2: Look.\n\nStep 2 of 2: Leap.\n\n");
}

#[tokio::test]
async fn usage_counts_words_and_the_context_adds_up() {
    let mut talk = Talk::open().await;
    let first = usages(&talk.turn("[[think a b]] c d").await);
    let second = usages(&talk.turn("[[say e]]").await);
    let expected = |input, output, context| Usage {
        input_tokens: input,
        output_tokens: output,
        context_tokens: Some(context),
        context_limit: Some(8000),
        cost_usd: None,
    };
    assert_eq!(first, [expected(5, 4, 9)]);
    assert_eq!(second, [expected(2, 1, 12)]);
}

#[tokio::test]
async fn given_usage_replaces_the_counted_numbers_of_its_turn() {
    let mut talk = Talk::open().await;
    let seen = usages(&talk.turn("[[usage 1 2 3 4]] words").await);
    let given = Usage {
        input_tokens: 1,
        output_tokens: 2,
        context_tokens: Some(3),
        context_limit: Some(4),
        cost_usd: None,
    };
    assert_eq!(seen, [given, given]);
    assert_eq!(usages(&talk.turn("[[say a]]").await)[0].context_limit, Some(8000));
}

#[tokio::test]
async fn compressing_sums_up_the_prompts_and_shrinks_the_context() {
    let mut talk = Talk::open().await;
    talk.send(AgentCommand::Compress).await;
    let seen = talk.rest().await;
    let summary_of_nothing = "Nothing was asked so far.".to_owned();
    let expected =
        [Happening::Compacted { summary: summary_of_nothing }, Happening::Ended(Ending::Completed)];
    assert_eq!(seen, expected);

    talk.turn("[[long 20]]").await;
    let seen = talk.turn("again [[compress]] done").await;
    let expected = "So far 2 things were asked:\n\n1. [long 20]\n2. again [compress] done";
    assert_eq!(summary(&seen), expected);
    assert_eq!(said(&seen), "again  done");
    assert_eq!(usages(&seen)[0].context_tokens, Some(14));

    talk.send(AgentCommand::Compress).await;
    let seen = talk.rest().await;
    assert_eq!(summary(&seen), expected);
    assert!(completed(&seen));
}

#[tokio::test]
async fn a_long_conversation_is_summed_up_within_bounds() {
    let mut talk = Talk::open().await;
    for number in 1..=60 {
        talk.turn(&format!("[[think {number}]] {}", "word ".repeat(500))).await;
    }
    talk.send(AgentCommand::Compress).await;
    let seen = talk.rest().await;
    let summary = summary(&seen);
    assert!(summary.contains("60 things") && summary.contains("first 10 are left out"));
    assert!(summary.contains("\n11. [think 11] word"));
    assert!(summary.len() < 10_000);
}

// Going wrong

#[tokio::test]
async fn an_error_fails_the_turn_and_the_next_one_works() {
    let mut talk = Talk::open().await;
    let seen = talk.turn("so far [[error Too many cooks]] never").await;
    let failed =
        Happening::Failed { phase: "prompt".to_owned(), message: "Too many cooks".to_owned() };
    assert_eq!(said(&seen), "so far ");
    assert_eq!(seen[seen.len() - 2..], [failed, Happening::Ended(Ending::Failed)]);
    assert!(completed(&talk.turn("[[say fine]]").await));
}

#[tokio::test]
async fn a_crash_closes_the_happenings_without_an_end() {
    let mut talk = Talk::open().await;
    talk.prompt("last words [[crash]] never").await;
    let mut seen = Vec::new();
    while let Some(happening) = next(&mut talk.handle.happenings).await {
        seen.push(happening);
    }
    assert_eq!(seen, [Happening::Text("last ".to_owned()), Happening::Text("words ".to_owned())]);
    assert!(talk.handle.commands.is_closed());
}

#[tokio::test]
async fn dropping_the_commands_ends_the_agent_whatever_it_does() {
    for prompt in
        ["[[hang]]", "[[ask Well?]]", "[[slow 100 60000]]", "[[long 9000]]", "[[say done]]"]
    {
        let talk = Talk::open().await;
        talk.prompt(prompt).await;
        let AgentHandle { commands, mut happenings } = talk.handle;
        drop(commands);
        while next(&mut happenings).await.is_some() {}
    }
}

#[tokio::test]
async fn a_session_that_leaves_without_reading_the_end_keeps_nothing_alive() {
    let talk = Talk::open().await;
    talk.prompt("[[long 10000]]").await;
    talk.until_full().await;
    talk.send(AgentCommand::Cancel).await;
    let AgentHandle { commands, happenings } = talk.handle;
    drop(commands);
    let gone = async {
        while !happenings.is_closed() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, gone).await.expect("the agent is still there");
}

// Stopping

#[tokio::test]
async fn stopping_while_streaming_ends_the_words_with_their_usage() {
    let mut talk = Talk::open().await;
    talk.prompt("[[slow 1000 60000]]").await;
    talk.next().await;
    let seen = talk.cancel().await;
    assert_eq!(usages(&seen)[0].output_tokens, 1);
}

#[tokio::test]
async fn stopping_works_while_nobody_reads() {
    let mut talk = Talk::open().await;
    talk.prompt("[[long 10000]]").await;
    talk.until_full().await;
    let seen = talk.cancel().await;
    assert!(seen.len() <= HAPPENINGS_AHEAD + 3, "{} more came", seen.len());
}

#[tokio::test]
async fn stopping_while_hanging_ends_the_turn() {
    let mut talk = Talk::open().await;
    talk.prompt("before [[hang]] never").await;
    talk.next().await;
    assert_eq!(said(&talk.cancel().await), "");
}

#[tokio::test]
async fn stopping_while_waiting_for_an_answer_skips_the_tool() {
    let mut talk = Talk::open().await;
    talk.prompt("[[tool run touch made]]").await;
    let question = talk.question().await;
    let seen = talk.cancel().await;
    assert_eq!(tool_states(&seen), [ToolState::Skipped]);
    talk.answer(&question.request_id, "allow_once").await;
    assert!(completed(&talk.turn("[[say fine]]").await));
    assert!(!talk.path("made").exists());
}

#[tokio::test]
async fn stopping_a_command_kills_all_that_it_started() {
    let mut talk = Talk::open().await;
    talk.prompt("[[tool run echo go; (while :; do echo x >> beat; sleep 0.02; done) & wait]]")
        .await;
    let question = talk.question().await;
    talk.answer(&question.request_id, "allow_once").await;
    talk.until(|happening| matches!(happening, Happening::ToolOutput { .. })).await;
    while !talk.path("beat").exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let seen = talk.cancel().await;
    assert_eq!(tool_states(&seen), [ToolState::Skipped]);
    assert_beats_no_more(&talk).await;
}

async fn assert_beats_no_more(talk: &Talk) {
    let beats = fs::metadata(talk.path("beat")).unwrap().len();
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(fs::metadata(talk.path("beat")).unwrap().len(), beats);
}

#[tokio::test]
async fn stopping_when_nothing_runs_is_ignored() {
    let mut talk = Talk::open().await;
    talk.send(AgentCommand::Cancel).await;
    talk.send(AgentCommand::SetOption { name: "mode".to_owned(), value: "x".to_owned() }).await;
    assert_eq!(said(&talk.turn("[[say fine]]").await), "fine");
}

#[tokio::test]
async fn a_second_prompt_waits_for_the_first_even_if_that_is_stopped() {
    let mut talk = Talk::open().await;
    talk.prompt("[[ask Ready?]]").await;
    let question = talk.question().await;
    talk.prompt("[[say second]][[hang]]").await;
    talk.send(AgentCommand::Compress).await;
    talk.answer(&question.request_id, "Yes").await;
    assert_eq!(said(&talk.rest().await), "You chose **Yes**.");
    assert_eq!(talk.next().await, Happening::Text("second".to_owned()));
    talk.send(AgentCommand::Cancel).await;
    assert_eq!(talk.rest().await.last(), Some(&Happening::Ended(Ending::Cancelled)));
    assert!(summary(&talk.rest().await).contains("2 things"));
}

// Commands

#[tokio::test]
async fn a_command_runs_in_the_folder_after_it_was_allowed() {
    let mut talk = Talk::open().await;
    talk.prompt("[[tool run cat notes.txt; echo oops >&2; echo end]]").await;
    let question = talk.question().await;
    assert_eq!(question.detail, "cat notes.txt; echo oops >&2; echo end");
    let options: Vec<_> = question
        .options
        .iter()
        .map(|choice| (choice.option.as_str(), choice.label.as_str()))
        .collect();
    let expected = [
        ("allow_once", "Allow once"),
        ("allow_always", "Always allow in this conversation"),
        ("reject", "Reject"),
    ];
    assert_eq!(options, expected);
    talk.answer(&question.request_id, "allow_once").await;
    let seen = talk.rest().await;
    assert_eq!(output(&seen), "one apple\ntwo pears\nthree plums\noops\nend\n");
    assert_eq!(tool_states(&seen), [ToolState::Done]);
}

#[tokio::test]
async fn a_rejected_command_does_not_run_and_the_prompt_goes_on() {
    let mut talk = Talk::open().await;
    let seen = talk.turn_with("[[tool run touch made]] on", "reject").await;
    assert_eq!(tool_states(&seen), [ToolState::Skipped]);
    assert_eq!(said(&seen), " on");
    assert!(!talk.path("made").exists());
}

#[tokio::test]
async fn always_allowing_a_tool_holds_for_it_alone() {
    let mut talk = Talk::open().await;
    talk.turn_with("[[tool run echo one]]", "allow_always").await;
    let seen = talk.turn("[[tool run echo two]]").await;
    assert_eq!(output(&seen), "two\n");
    talk.prompt("[[tool edit notes.txt | one | 1]]").await;
    assert_eq!(talk.question().await.title, "Edit notes.txt?");
}

#[tokio::test]
async fn output_comes_while_the_command_runs() {
    let mut talk = Talk::open().await;
    talk.prompt("[[tool run echo first; while [ ! -e go ]; do sleep 0.01; done; echo last]]").await;
    let question = talk.question().await;
    talk.answer(&question.request_id, "allow_once").await;
    let seen = talk.until(|happening| matches!(happening, Happening::ToolOutput { .. })).await;
    assert_eq!(output(&seen), "first\n");
    fs::write(talk.path("go"), "").unwrap();
    assert_eq!(output(&talk.rest().await), "last\n");
}

#[tokio::test]
async fn a_command_that_fails_is_a_failed_tool() {
    let mut talk = Talk::open().await;
    let seen = talk.turn_with("[[tool run printf half; exit 3]] on", "allow_once").await;
    assert_eq!(output(&seen), "half\nIt ended with exit status: 3.\n");
    assert_eq!(tool_states(&seen), [ToolState::Failed]);
    assert_eq!(said(&seen), " on");
}

#[tokio::test]
async fn long_output_is_cut_with_a_line_that_says_so() {
    let mut talk = Talk::open().await;
    let seen = talk.turn_with("[[tool run seq 1 40000; printf é]]", "allow_once").await;
    let shown = output(&seen);
    assert!(shown.starts_with("1\n2\n3\n"));
    assert!(shown.ends_with("\n… the output is cut after 64.0 KiB.\n"), "{}", &shown[65_000..]);
    assert!(shown.len() < 64 * 1024 + 100);
    assert!(seen.len() < 500, "{} pieces", seen.len());
    assert_eq!(tool_states(&seen), [ToolState::Done]);
}

#[tokio::test]
async fn a_command_is_stopped_with_all_that_it_started_when_its_time_is_up() {
    let demo = Demo::new(Duration::ZERO).with_command_limit(Duration::from_millis(300));
    let mut talk = Talk::open_with(demo).await;
    let command = "(while :; do echo x >> beat; sleep 0.02; done) & printf half; exit 0";
    let seen = talk.turn_with(&format!("[[tool run {command}]]"), "allow_once").await;
    assert_eq!(output(&seen), "half\nIt was stopped after 0.3 s.\n");
    assert_eq!(tool_states(&seen), [ToolState::Failed]);
    assert_beats_no_more(&talk).await;
}

#[tokio::test]
async fn a_command_leaves_nothing_in_the_background() {
    let mut talk = Talk::open().await;
    let command = "(while :; do echo x >> beat; sleep 0.02; done) >/dev/null 2>&1 & \
                   while [ ! -e beat ]; do sleep 0.01; done";
    let seen = talk.turn_with(&format!("[[tool run {command}]]"), "allow_once").await;
    assert_eq!(tool_states(&seen), [ToolState::Done]);
    assert_beats_no_more(&talk).await;
}

#[tokio::test]
async fn a_command_sees_little_of_the_servers_environment() {
    let mut talk = Talk::open().await;
    let seen = talk.turn_with("[[tool run env; cat]]", "allow_once").await;
    assert!(output(&seen).contains("PATH="));
    assert!(!output(&seen).contains("CARGO_MANIFEST_DIR"));
}

// Files

#[tokio::test]
async fn an_edit_changes_the_file_and_shows_the_lines_around() {
    let mut talk = Talk::open().await;
    let lines: String = (1..=20).map(|number| format!("line {number}\n")).collect();
    fs::write(talk.path("long.txt"), &lines).unwrap();
    let seen =
        talk.turn_with("[[tool edit long.txt | line 10\n | ten | bars\n]]", "allow_once").await;
    let path = "long.txt".to_owned();
    let old = "line 7\nline 8\nline 9\nline 10\nline 11\nline 12\nline 13\n".to_owned();
    let new = old.replace("line 10", "ten | bars");
    let diff = ToolOutput::Diff { path, old, new };
    assert_eq!(outputs(&seen), [&diff]);
    assert_eq!(tool_states(&seen), [ToolState::Done]);
    let changed = lines.replace("line 10\n", "ten | bars\n");
    assert_eq!(fs::read_to_string(talk.path("long.txt")).unwrap(), changed);
}

#[tokio::test]
async fn an_edit_at_either_end_of_a_file_shows_what_changed() {
    for (directive, old, new) in [
        ("one | 1", "one apple\ntwo pears\nthree plums\n", "1 apple\ntwo pears\nthree plums\n"),
        (
            "plums\n | plums",
            "one apple\ntwo pears\nthree plums\n",
            "one apple\ntwo pears\nthree plums",
        ),
        ("two pears\n | ", "one apple\ntwo pears\nthree plums\n", "one apple\nthree plums\n"),
    ] {
        let mut talk = Talk::open().await;
        let prompt = format!("[[tool edit notes.txt | {directive}]]");
        let seen = talk.turn_with(&prompt, "allow_always").await;
        let (path, old, new) = ("notes.txt".to_owned(), old.to_owned(), new.to_owned());
        assert_eq!(fs::read_to_string(talk.path("notes.txt")).unwrap(), new);
        assert_eq!(outputs(&seen), [&ToolOutput::Diff { path, old, new }]);
    }
}

#[tokio::test]
async fn an_edit_that_cannot_be_done_is_refused_without_asking() {
    let mut talk = Talk::open().await;
    fs::write(talk.path("binary"), [0, 1, 2]).unwrap();
    for (directive, reason) in [
        ("notes.txt | melon | x", "nowhere"),
        ("notes.txt | p | x", "4 times"),
        ("nothing.txt | a | b", "There is no"),
        ("binary | a | b", "not a text file"),
        ("src | a | b", "not a file"),
    ] {
        let seen = talk.turn(&format!("[[tool edit {directive}]]")).await;
        assert_eq!(tool_states(&seen), [ToolState::Failed], "{directive}");
        assert!(output(&seen).contains(reason), "{directive}: {}", output(&seen));
    }
}

#[tokio::test]
async fn a_rejected_edit_changes_nothing() {
    let mut talk = Talk::open().await;
    let seen = talk.turn_with("[[tool edit notes.txt | one | 1]]", "reject").await;
    assert_eq!(tool_states(&seen), [ToolState::Skipped]);
    assert!(fs::read_to_string(talk.path("notes.txt")).unwrap().starts_with("one"));
}

#[tokio::test]
async fn reading_is_bounded_and_names_binary_files() {
    let mut talk = Talk::open().await;
    fs::write(talk.path("binary"), b"\xff\x00\x01").unwrap();
    fs::write(talk.path("latin"), b"caf\xe9").unwrap();
    fs::write(talk.path("empty"), "").unwrap();
    fs::write(talk.path("big"), format!("x{}", "é".repeat(200_000))).unwrap();
    for (path, expected) in [
        ("binary", "binary is a binary file of 3 B; it is not shown.\n"),
        ("latin", "latin is a binary file of 4 B; it is not shown.\n"),
        ("empty", "empty is empty.\n"),
    ] {
        let seen = talk.turn(&format!("[[tool read {path}]]")).await;
        assert_eq!((output(&seen).as_str(), tool_states(&seen)[0]), (expected, ToolState::Done));
    }
    let seen = output(&talk.turn("[[tool read big]]").await);
    assert!(seen.ends_with("é\n… the first 256.0 KiB of 390.6 KiB are shown.\n"));
    assert!(seen.len() < 256 * 1024 + 100);
}

#[tokio::test]
async fn listing_is_sorted_and_bounded() {
    let mut talk = Talk::open().await;
    fs::create_dir(talk.path("many")).unwrap();
    for number in (0..250).rev() {
        fs::write(talk.path(&format!("many/{number:03}")), "x".repeat(number)).unwrap();
    }
    let seen = output(&talk.turn("[[tool list many]]").await);
    let lines: Vec<&str> = seen.lines().collect();
    assert_eq!(lines.len(), 201);
    assert_eq!((lines[0], lines[199], lines[200]), ("000  0 B", "199  199 B", "… and 50 more."));
    fs::create_dir(talk.path("none")).unwrap();
    assert_eq!(output(&talk.turn("[[tool list none]]").await), "The folder is empty.\n");
}

#[tokio::test]
async fn searching_goes_through_text_files_in_order() {
    let mut talk = Talk::open().await;
    fs::write(talk.path("src/lib.rs"), "// two\n\n// pears too\n").unwrap();
    fs::write(talk.path("binary"), b"pears\x00").unwrap();
    fs::create_dir(talk.path(".git")).unwrap();
    fs::write(talk.path(".git/config"), "pears").unwrap();
    let seen = talk.turn("[[tool search pears]]").await;
    assert_eq!(output(&seen), "notes.txt:2: two pears\nsrc/lib.rs:3: // pears too\n");
    let seen = talk.turn("[[tool search melons]]").await;
    assert_eq!(output(&seen), "“melons” is in none of the files.\n");
    fs::write(talk.path("flood"), "pears\n".repeat(500)).unwrap();
    let seen = output(&talk.turn("[[tool search pears]]").await);
    assert_eq!(seen.lines().count(), 101);
    assert!(seen.ends_with("… there is more than was searched.\n"));
}

#[tokio::test]
async fn nothing_outside_the_folder_can_be_reached() {
    use std::os::unix::fs::symlink;
    let mut talk = Talk::open().await;
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret");
    fs::write(&secret, "treasure").unwrap();
    symlink(&secret, talk.path("link")).unwrap();
    symlink(outside.path(), talk.path("door")).unwrap();
    symlink("loop", talk.path("loop")).unwrap();
    symlink("notes.txt", talk.path("inner")).unwrap();
    let status = std::process::Command::new("mkfifo").arg(talk.path("pipe")).status().unwrap();
    assert!(status.success());

    let secret = secret.display().to_string();
    for path in [
        "../x",
        "src/../notes.txt",
        "/etc/passwd",
        "/",
        &secret,
        "link",
        "door/secret",
        "loop",
        "pipe",
        "a\0b",
    ] {
        for directive in [
            format!("tool read {path}"),
            format!("tool list {path}"),
            format!("tool edit {path} | treasure | x"),
        ] {
            let seen = talk.turn(&format!("[[{directive}]]")).await;
            assert_eq!(tool_states(&seen), [ToolState::Failed], "{directive}");
            assert!(!output(&seen).contains("treasure"), "{directive}");
            assert!(completed(&seen), "{directive}");
        }
    }
    assert!(!output(&talk.turn("[[tool search treasure]]").await).contains("secret"));
    assert_eq!(fs::read_to_string(&secret).unwrap(), "treasure");

    let inside = talk.path("notes.txt").display().to_string();
    for path in [inside.as_str(), "inner", "./notes.txt"] {
        let seen = talk.turn(&format!("[[tool read {path}]]")).await;
        assert!(output(&seen).starts_with("one apple"), "{path}");
    }
}

// Determinism and the parser

#[tokio::test]
async fn the_same_prompt_in_the_same_folder_gives_the_same_happenings() {
    let prompts = [
        "Hello there",
        "/help",
        "[[long 12]][[table]][[code js]][[image]][[plan a | b]][[notice n]][[retry 1]][[compress]]",
        "[[tool list]][[tool read notes.txt]][[tool search a]][[tool run seq 1 9000; echo e >&2; exit 1]]",
    ];
    let talk = Talk::open().await;
    let mut runs = Vec::new();
    for _ in 0..2 {
        let handle = open_handle(&Demo::new(Duration::ZERO), talk.folder.path()).await;
        let mut talk = Talk { handle, folder: tempfile::tempdir().unwrap() };
        let mut seen = Vec::new();
        for prompt in prompts {
            talk.prompt(prompt).await;
            loop {
                match talk.next().await {
                    Happening::Question(question) => {
                        talk.answer(&question.request_id, "allow_once").await;
                    }
                    Happening::Answered { .. } => {}
                    happening => seen.push(happening),
                }
                if matches!(seen.last(), Some(Happening::Ended(_))) {
                    break;
                }
            }
        }
        runs.push(seen);
    }
    assert!(runs[0].len() > 500);
    assert_eq!(runs[0], runs[1]);
}

#[test]
fn directives_may_hold_brackets_in_pairs() {
    let check = |prompt: &str, expected: Directive| {
        let steps = parse(prompt);
        assert_eq!(steps.len(), 1, "{prompt}");
        assert_eq!(steps[0].directive, expected);
    };
    let command = "[[ -f a ]] && echo ${a[0]}";
    check(&format!("[[tool run {command}]]"), Directive::Tool(Tool::Run(command.to_owned())));
    check("[[ Say [[x]]]]", Directive::Say("[[x]]".to_owned()));
    check("[[tool list]]", Directive::Tool(Tool::List(".".to_owned())));
    let steps = parse("[[say a [[think b]] c");
    let sources: Vec<&str> = steps.iter().map(|step| step.source).collect();
    assert_eq!(sources, ["[[say a ", "[[think b]]", " c"]);
    assert_eq!(steps[1].directive, Directive::Think("b".to_owned()));
}

#[test]
fn a_prompt_of_nothing_but_brackets_is_read_in_one_pass() {
    let prompt = "[[".repeat(500_000);
    assert_eq!(parse(&prompt).len(), 1);
    let prompt = "[[say ".repeat(200_000);
    assert_eq!(parse(&prompt).len(), 1);
}

/// Texts made of what directives are made of.
fn prompt_like() -> impl Strategy<Value = String> {
    let fragments: Vec<String> =
        ["[[", "]]", "[", "]", "|", " ", "\n", "7", "99999999999", "é", "a.b"]
            .into_iter()
            .map(str::to_owned)
            .chain(FORMS.iter().flat_map(|form| [form.name.to_owned(), form.written.to_owned()]))
            .collect();
    let fragment = prop_oneof![4 => prop::sample::select(fragments), 1 => ".{0,6}"];
    prop::collection::vec(fragment, 0..24).prop_map(|fragments| fragments.concat())
}

proptest! {
    #[test]
    fn parsing_never_panics_and_never_loses_text(prompt in prop_oneof![prompt_like(), ".*"]) {
        let steps = parse(&prompt);
        let sources: String = steps.iter().map(|step| step.source).collect();
        prop_assert_eq!(&sources, &prompt);
        for step in steps {
            match step.directive {
                Directive::Text(text) | Directive::Unclear { text, .. } => {
                    prop_assert_eq!(text, step.source);
                }
                _ => prop_assert!(step.source.starts_with("[[") && step.source.ends_with("]]")),
            }
        }
    }

    #[test]
    fn what_a_person_writes_without_brackets_is_never_a_directive(prompt in "[^\\[\\]]*") {
        prop_assert!(parse(&prompt).iter().all(|step| matches!(step.directive, Directive::Text(_))));
    }

    #[test]
    fn every_turn_ends_once_or_the_agent_crashes(prompt in prompt_like()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut talk = Talk::open().await;
            let crashes = parse(&prompt).iter().any(|step| step.directive == Directive::Crash);
            talk.prompt(&prompt).await;
            talk.send(AgentCommand::Cancel).await;
            talk.prompt("[[say next]]").await;
            let mut ends = 0;
            while ends < 2 {
                match next(&mut talk.handle.happenings).await {
                    Some(Happening::Ended(_)) => ends += 1,
                    Some(_) => {}
                    None => break,
                }
            }
            prop_assert!(ends == 2 || crashes);
            Ok(())
        })?;
    }
}
