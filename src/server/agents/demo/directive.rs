//! Reads a prompt as words and directives: pure, total, and without losing a byte.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::form::{FORMS, Form};
use crate::domain::message::Usage;

/// The most steps of a plan or options of a question; a plan is sent anew for every step.
const LONGEST_LIST: usize = 50;

/// A stretch of the prompt and what it asks for; the sources of all steps join to the prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Step<'a> {
    pub source: &'a str,
    pub directive: Directive,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Directive {
    /// Words outside any directive.
    Text(String),
    Say(String),
    Think(String),
    Slow {
        words: u32,
        apart: Duration,
    },
    /// Says the time instead of numbered words.
    Clock {
        words: u32,
        apart: Duration,
    },
    Tool(Tool),
    Ask {
        title: String,
        options: Vec<String>,
    },
    /// Stands first in a prompt that goes on from a question: what is behind it, and the answer.
    Answered {
        passed: u32,
        option: String,
    },
    Plan(Vec<String>),
    Usage(Usage),
    Notice(String),
    Image,
    Table,
    Code(String),
    Long(u32),
    Error(String),
    Crash,
    Hang,
    Retry(u32),
    Compress,
    /// Looks like a directive and is none; it is said as it stands, with the reason as a notice.
    Unclear {
        text: String,
        reason: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tool {
    List(String),
    Read(String),
    Search(String),
    Edit { path: String, old: String, new: String },
    Run(String),
}

/// Cuts a prompt into words and directives, in order.
pub fn parse(prompt: &str) -> Vec<Step<'_>> {
    let brackets = match_brackets(prompt);
    let mut steps = Vec::new();
    let mut done = 0;
    for bracket in brackets {
        if bracket.open < done {
            continue;
        }
        let Some(close) = bracket.close else {
            if let Some(form) = find_form(&prompt[bracket.open + 2..]) {
                push_text(&mut steps, &prompt[done..bracket.open]);
                let end = bracket.next;
                steps.push(unclosed(&prompt[bracket.open..end], form));
                done = end;
            }
            continue;
        };
        push_text(&mut steps, &prompt[done..bracket.open]);
        let body = &prompt[bracket.open + 2..close];
        steps.push(closed(&prompt[bracket.open..close + 2], body));
        done = close + 2;
    }
    push_text(&mut steps, &prompt[done..]);
    steps
}

/// A `[[`, where its `]]` is, and where the next closed pair after an unclosed one begins.
struct Bracket {
    open: usize,
    close: Option<usize>,
    next: usize,
}

/// Pairs the brackets in one pass, so that a prompt of nothing but `[[` costs no more than another;
/// pairs may hold pairs, as shell commands and code do.
fn match_brackets(prompt: &str) -> Vec<Bracket> {
    let bytes = prompt.as_bytes();
    let mut brackets: Vec<Bracket> = Vec::new();
    let mut unclosed: Vec<usize> = Vec::new();
    let mut place = 0;
    while place + 1 < bytes.len() {
        match &bytes[place..place + 2] {
            b"[[" => {
                unclosed.push(brackets.len());
                brackets.push(Bracket { open: place, close: None, next: bytes.len() });
                place += 2;
            }
            b"]]" => {
                if let Some(bracket) = unclosed.pop().and_then(|index| brackets.get_mut(index)) {
                    bracket.close = Some(place);
                }
                place += 2;
            }
            _ => place += 1,
        }
    }
    let mut next = bytes.len();
    for bracket in brackets.iter_mut().rev() {
        bracket.next = next;
        if bracket.close.is_some() {
            next = bracket.open;
        }
    }
    brackets
}

fn push_text<'a>(steps: &mut Vec<Step<'a>>, source: &'a str) {
    if !source.is_empty() {
        steps.push(Step { source, directive: Directive::Text(source.to_owned()) });
    }
}

fn unclosed<'a>(source: &'a str, form: &Form) -> Step<'a> {
    let reason = format!("`{}` has no closing brackets here.", form.written);
    Step { source, directive: Directive::Unclear { text: source.to_owned(), reason } }
}

fn closed<'a>(source: &'a str, body: &str) -> Step<'a> {
    let directive = read(body).unwrap_or_else(|| {
        let reason = match find_form(body) {
            Some(form) => format!("This directive is written `{}`.", form.written),
            None => "There is no such directive.".to_owned(),
        };
        Directive::Unclear { text: source.to_owned(), reason }
    });
    Step { source, directive }
}

fn find_form(body: &str) -> Option<&'static Form> {
    // Up to the next bracket only, so that looking behind every bracket stays one pass in all.
    let (name, rest) = head(body.split(['[', ']']).next().unwrap_or_default());
    let full = match name.as_str() {
        "tool" => format!("tool {}", head(rest).0),
        _ => name,
    };
    FORMS.iter().find(|form| form.name == full)
}

/// Splits off the first word, in lower case; one white space after it belongs to neither.
fn head(body: &str) -> (String, &str) {
    let body = body.trim_start();
    let (name, rest) = body.split_once(char::is_whitespace).unwrap_or((body, ""));
    (name.to_ascii_lowercase(), rest)
}

fn read(body: &str) -> Option<Directive> {
    let (name, rest) = head(body);
    let bare = |directive: Directive| rest.trim().is_empty().then_some(directive);
    match name.as_str() {
        "say" => exact(rest).map(Directive::Say),
        "think" => exact(rest).map(Directive::Think),
        "slow" => read_schedule(rest).map(|(words, apart)| Directive::Slow { words, apart }),
        "clock" => read_schedule(rest).map(|(words, apart)| Directive::Clock { words, apart }),
        "tool" => read_tool(rest).map(Directive::Tool),
        "ask" => read_ask(rest),
        "answered" => read_answered(rest),
        "plan" => list(rest).map(Directive::Plan),
        "usage" => read_usage(rest),
        "notice" => trimmed(rest).map(Directive::Notice),
        "image" => bare(Directive::Image),
        "table" => bare(Directive::Table),
        "code" => read_language(rest).map(Directive::Code),
        "long" => number(rest, 1..=10_000).map(Directive::Long),
        "error" => trimmed(rest).map(Directive::Error),
        "crash" => bare(Directive::Crash),
        "hang" => bare(Directive::Hang),
        "retry" => number(rest, 1..=20).map(Directive::Retry),
        "compress" => bare(Directive::Compress),
        _ => None,
    }
}

fn read_schedule(rest: &str) -> Option<(u32, Duration)> {
    let (words, apart) = rest.trim().split_once(char::is_whitespace)?;
    let words = number(words, 1..=1_000_000)?;
    let apart = number(apart, 0..=600_000)?;
    Some((words, Duration::from_millis(apart.into())))
}

fn read_tool(rest: &str) -> Option<Tool> {
    let (name, rest) = head(rest);
    match name.as_str() {
        "list" => Some(Tool::List(trimmed(rest).unwrap_or_else(|| ".".to_owned()))),
        "read" => trimmed(rest).map(Tool::Read),
        "search" => trimmed(rest).map(Tool::Search),
        "edit" => read_edit(rest),
        "run" => trimmed(rest).map(Tool::Run),
        _ => None,
    }
}

/// Reads an edit; NEW may hold further bars, and one space beside a bar is only for the eye.
fn read_edit(rest: &str) -> Option<Tool> {
    let mut fields = rest.splitn(3, '|');
    let path = trimmed(fields.next()?)?;
    let old = fields.next()?;
    let new = fields.next()?;
    let old = old.strip_prefix(' ').unwrap_or(old);
    let old = old.strip_suffix(' ').unwrap_or(old);
    let new = new.strip_prefix(' ').unwrap_or(new);
    (!old.is_empty()).then(|| Tool::Edit { path, old: old.to_owned(), new: new.to_owned() })
}

fn read_ask(rest: &str) -> Option<Directive> {
    let (title, options) = rest.split_once('|').unwrap_or((rest, "Yes | No"));
    Some(Directive::Ask { title: trimmed(title)?, options: list(options)? })
}

fn read_answered(rest: &str) -> Option<Directive> {
    let (passed, option) = rest.trim().split_once(char::is_whitespace)?;
    let passed = number(passed, 0..=u32::MAX)?;
    trimmed(option).map(|option| Directive::Answered { passed, option })
}

fn read_usage(rest: &str) -> Option<Directive> {
    let numbers: Option<Vec<u64>> =
        rest.split_whitespace().map(|number| number.parse().ok()).collect();
    let [input_tokens, output_tokens, context, limit] = numbers?.try_into().ok()?;
    Some(Directive::Usage(Usage {
        input_tokens,
        output_tokens,
        context_tokens: Some(context),
        context_limit: Some(limit),
        cost_usd: None,
    }))
}

/// Reads the name of a language, which ends up behind a code fence and so must be one plain word.
fn read_language(rest: &str) -> Option<String> {
    let language = trimmed(rest).unwrap_or_else(|| "rust".to_owned()).to_ascii_lowercase();
    let plain = |character: char| {
        character.is_ascii_alphanumeric() || matches!(character, '-' | '_' | '+' | '#' | '.')
    };
    language.chars().all(plain).then_some(language)
}

fn number(text: &str, allowed: RangeInclusive<u32>) -> Option<u32> {
    text.trim().parse().ok().filter(|number| allowed.contains(number))
}

fn list(text: &str) -> Option<Vec<String>> {
    let items: Vec<String> = text.split('|').filter_map(trimmed).collect();
    (1..=LONGEST_LIST).contains(&items.len()).then_some(items)
}

fn trimmed(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn exact(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}
