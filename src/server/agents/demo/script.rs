//! The words that the demo agent says about the person's own prompt and folder.

use super::form::FORMS;
use crate::domain::message::Attachment;
use crate::server::agents::words::{LINE, counted, one_line, shorten, size};
use crate::server::agents::workspace::Listing;

/// How much of a prompt is quoted back.
const QUOTED_LINES: usize = 8;

const CODE_BLOCK: &str = r#"```rust
fn main() {
    let conversations = ["write", "review", "test"];
    for name in conversations {
        println!("{name} goes on by itself");
    }
}
```"#;

const HELP_HEAD: &str = "\
# The demo agent

I am built in: I need no key and no network, and the same prompt always gives the same answer. \
Write to me as you would to any agent, or say exactly what I should do.

## In plain words

- `list files`, or `list files in PATH`
- `read FILE`
- `search for TEXT`
- `run COMMAND`
- `plan FIRST, SECOND, THIRD`

## Directives

Put them anywhere in a prompt. I follow them in order and repeat the words between them.
";

const HELP_TAIL: &str = "
I stay inside the folder of this conversation and ask before I change a file or run a command. \
Stop ends whatever I am doing.

For example: `[[think Let me see]] Here is the folder: [[tool list .]] [[ask Go on? | Yes | No]]`";

/// Explains every directive, as Markdown.
pub(super) fn help() -> String {
    let mut help = HELP_HEAD.to_owned();
    for form in FORMS {
        help.push_str(&format!("\n- `{}`: {}", form.written, form.meaning));
    }
    help.push('\n');
    help.push_str(HELP_TAIL);
    help
}

pub(super) fn unclear(text: &str, reason: &str) -> String {
    format!("Shown as it stands: {} {reason} Type /help for the list.", one_line(text))
}

pub(super) fn thinking(prompt: &str) -> String {
    let asked = match one_line(prompt) {
        line if line.is_empty() => "There are no words in this message.".to_owned(),
        line => format!("I am asked: “{line}”."),
    };
    format!("{asked} I will look at the folder first, then answer with what I find.")
}

/// Greets, and quotes what was asked.
pub(super) fn greeting(prompt: &str, attachments: &[Attachment]) -> String {
    let mut greeting = "Hello! I am the **demo agent**.".to_owned();
    if !prompt.trim().is_empty() {
        greeting.push_str(&format!(" You wrote:\n\n{}", quote(prompt)));
    }
    if !attachments.is_empty() {
        greeting.push_str("\n\nYou attached:\n");
        for attachment in attachments {
            let (name, kind) = (&attachment.name, &attachment.media_type);
            greeting.push_str(&format!("\n- {name} ({kind}, {})", size(attachment.size)));
        }
    }
    greeting.push_str("\n\nLet me look at the folder of this conversation.");
    greeting
}

/// Tells what the folder holds, with a table, a piece of code and a task list.
pub(super) fn findings(listing: Option<&Listing>) -> String {
    let (found, mark) = match listing {
        Some(listing) => (in_a_table(listing), "x"),
        None => ("I could not look into the folder; the reason is shown above.".to_owned(), " "),
    };
    format!(
        "{found}\n\nA real agent might now write something like this:\n\n{CODE_BLOCK}\n\n\
         - [x] Read what you wrote\n\
         - [{mark}] Look into the folder\n\
         - [ ] Hear what you want next\n\n\
         Type `/help` to see how to make me use tools, ask, plan, or fail on purpose."
    )
}

fn in_a_table(listing: &Listing) -> String {
    let Listing { files, folders, bytes, .. } = listing;
    format!(
        "It holds {} and {}:\n\n\
         | What | How many | Size |\n| --- | ---: | ---: |\n\
         | Files | {files} | {} |\n| Folders | {folders} | |",
        counted(*files, "file", "files"),
        counted(*folders, "folder", "folders"),
        size(*bytes),
    )
}

pub(super) fn plan_step(place: usize, steps: usize, step: &str) -> String {
    format!("Step {} of {steps}: {step}.\n\n", place + 1)
}

fn quote(prompt: &str) -> String {
    let lines = prompt.trim().lines();
    let quoted: Vec<String> = lines
        .clone()
        .take(QUOTED_LINES)
        .map(|line| format!("> {}", shorten(line, 4 * LINE)))
        .collect();
    let more = if lines.count() > QUOTED_LINES { "\n> …" } else { "" };
    format!("{}{more}", quoted.join("\n"))
}
